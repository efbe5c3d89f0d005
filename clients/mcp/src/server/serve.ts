import { type ClientOptions, Consigliere } from '@consigliere/sdk';
import { createMcpHandler, type McpHttpHandler, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { serveStdio as serve, type StdioServerHandle } from '@modelcontextprotocol/server/stdio';
import { createServer, type ServerOptions } from './server.js';

/** Serves over standard input and output until the client ends; nothing else may write to standard output. */
export function serveStdio(client: Consigliere, options: ServerOptions = {}): StdioServerHandle {
  return serve(() => createServer(client, options), { onerror: (error) => console.error(error.message) });
}

/**
 * Serves one request of Streamable HTTP, of the revision 2026-07-28 or of 2025-11-25 without sessions. The body has been parsed and
 * the caller admitted. Lists do not change while a client is there, so there is nothing to subscribe to.
 */
export function serveHttp(
  connection: ClientOptions,
  options: ServerOptions = {},
): Pick<McpHttpHandler, 'fetch'> {
  // Refused for a passing cause, the assistant is told when to come back; the request does not wait for it.
  const client = new Consigliere({ maxRetries: 0, ...connection });
  const handler = createMcpHandler(() => createServer(client, options));
  return {
    async fetch(request, given) {
      const { method, id } = (given?.parsedBody ?? {}) as { method?: unknown; id?: unknown };
      if (method !== 'subscriptions/listen') return handler.fetch(request, given);
      const error = { code: ProtocolErrorCode.MethodNotFound, message: 'There is nothing to subscribe to.' };
      return Response.json({ jsonrpc: '2.0', id: id ?? null, error }, { status: 404 });
    },
  };
}
