import { createRequire } from 'node:module';
import type { Consigliere } from '@consigliere/sdk';
import {
  type CallToolResult,
  isInputRequiredResult,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { type Access, mayUse, READ, readAccess } from './access.js';
import { Confirmation } from './confirmation.js';
import { promptMessages, PROMPTS } from './prompts.js';
import { readResource, RESOURCES, TEMPLATES } from './resources.js';
import { BadArguments, Declined, type Tool, TOOLS } from './tools.js';
import { explained, INSTRUCTIONS, type Names, portable, spelled, untrusted } from './wording.js';

export interface ServerOptions {
  /** How the tools are called in the list; calls take both spellings. */
  names?: Names;
  /** What the token of the client may do; read from the service unless given. */
  access?: () => Promise<Access>;
}

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };

/** Lists stay as they are while a client is there; unless told, McpServer promises to announce changes. */
const NO_CHANGES = { listChanged: false };

/** A client names a change with it, so that the change has its effect once however often the call is sent. */
const IDEMPOTENCY_KEY = 'consigliere/idempotencyKey';

/** By both spellings. */
const BY_NAME = new Map(
  TOOLS.flatMap((tool) => [tool.name, portable(tool.name)].map((name) => [name, tool])),
);

/**
 * Consigliere as an MCP server, for one connection or one request. Its client decides whose rights it has.
 */
export function createServer(client: Consigliere, options: ServerOptions = {}): McpServer {
  const { names = 'exact', access = () => readAccess(client) } = options;
  const mcp = new McpServer(
    { name: 'consigliere', title: 'Consigliere', version },
    {
      capabilities: { tools: NO_CHANGES, resources: NO_CHANGES, prompts: NO_CHANGES },
      instructions: spelled(INSTRUCTIONS, names),
    },
  );
  // Without the registry of McpServer: a tool has two names, and the list depends on the caller.
  const { server } = mcp;

  server.setRequestHandler('tools/list', async () => {
    const held = await access();
    return {
      tools: TOOLS.filter(({ needs }) => mayUse(needs, held)).map(({ listed }) => inSpelling(listed, names)),
    };
  });
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = BY_NAME.get(params.name);
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name}.`);
    try {
      const answer = await tool.call(params.arguments, {
        client,
        confirmation: new Confirmation(mcp, context),
        options: { signal: context.mcpReq.signal, ...keyOf(context) },
      });
      return isInputRequiredResult(answer) ? answer : resultOf(tool, answer);
    } catch (error) {
      return { isError: true, content: [{ type: 'text', text: spelled(reasonOf(error), names) }] };
    }
  });

  server.setRequestHandler('resources/list', async () => ({
    resources: mayUse(READ, await access()) ? RESOURCES : [],
  }));
  server.setRequestHandler('resources/templates/list', async () => ({
    resourceTemplates: mayUse(READ, await access()) ? TEMPLATES : [],
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }, { mcpReq: { signal } }) =>
    readResource(client, uri, signal),
  );

  server.setRequestHandler('prompts/list', () => ({ prompts: PROMPTS }));
  server.setRequestHandler('prompts/get', ({ params: { name } }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: spelled(promptMessages(name), names) } }],
  }));
  return mcp;
}

function inSpelling(listed: Tool['listed'], names: Names): Tool['listed'] {
  return names === 'exact' ? listed : (JSON.parse(spelled(JSON.stringify(listed), names)) as Tool['listed']);
}

function resultOf({ isTrusted }: Tool, answer: object): CallToolResult {
  const text = isTrusted ? JSON.stringify(answer) : untrusted(answer);
  return { content: [{ type: 'text', text }], structuredContent: answer as Record<string, unknown> };
}

function reasonOf(error: unknown): string {
  if (error instanceof BadArguments)
    return `The arguments do not fit: ${error.message}. Correct them and call again.`;
  return error instanceof Declined ? error.message : explained(error);
}

function keyOf({ mcpReq: { _meta } }: ServerContext): { idempotencyKey?: string } {
  const key: unknown = _meta?.[IDEMPOTENCY_KEY];
  return typeof key === 'string' ? { idempotencyKey: key } : {};
}
