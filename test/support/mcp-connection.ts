import { randomInt } from 'node:crypto';
import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

export const REVISIONS = ['2026-07-28', '2025-11-25'] as const;
export type Revision = (typeof REVISIONS)[number];

/** What a person answers to a form; undefined: the client cannot show forms. */
export type Person = (message: string) => { action: 'accept' | 'decline'; content?: Record<string, unknown> };

export interface McpConnection {
  /** The service; a query such as `?names=portable` may follow. */
  url: string;
  token: string;
  /** `http`: at /mcp. `stdio`: a process of its own, which calls the service. */
  over: 'http' | 'stdio';
  revision: Revision;
  person?: Person;
  /** Where it calls from, over HTTP. */
  address?: string;
  names?: 'portable';
}

/** A real MCP client, connected. */
export async function connectMcp(connection: McpConnection): Promise<Client> {
  const { url, token, over, revision, person, names, address = anAddress() } = connection;
  const mode = revision === '2025-11-25' ? 'legacy' : { pin: revision };
  const options: ClientOptions = {
    versionNegotiation: { mode },
    capabilities: person ? { elicitation: { form: {} } } : {},
  };
  const client = new Client({ name: 'test', version: '1' }, options);
  if (person) {
    client.setRequestHandler(
      'elicitation/create',
      ({ params }) => person(params.message) as { action: 'accept' },
    );
  }
  const transport =
    over === 'http'
      ? new StreamableHTTPClientTransport(new URL(`${url}/mcp${names ? `?names=${names}` : ''}`), {
          requestInit: { headers: { 'x-service-token': token, 'X-Forwarded-For': address } },
        })
      : new StdioClientTransport({
          command: process.execPath,
          args: [
            new URL('../clients/mcp/stdio-server.mjs', import.meta.url).pathname,
            ...(names ? [names] : []),
          ],
          env: { ...environment(), CONSIGLIERE_BASE_URL: url, CONSIGLIERE_TOKEN: token },
        });
  await client.connect(transport);
  return client;
}

/** Route limits are counted per address. */
const anAddress = () => `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;

const environment = () =>
  Object.fromEntries(Object.entries(process.env).flatMap(([name, value]) => (value ? [[name, value]] : [])));
