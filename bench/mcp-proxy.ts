import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { call, timed } from './calls.js';
import { type Process, start } from './processes.js';
import { isQuick } from './size.js';
import { asOwner, createWorkspaces } from './workspaces.js';

/** Each call of a tool is two of the service, of which one address may make 1,200 a minute. */
const CALLS = isQuick ? 20 : 400;
const PAUSE_MS = 25;
const WARM_UP = isQuick ? 10 : 100;
const SERVER = [process.execPath, join(import.meta.dirname, 'echo-mcp-server.js')] as const;
const PROXY = join(import.meta.dirname, '../../clients/cli/bin.js');

export interface ProxyFigures {
  /** Milliseconds of each call of a tool, one after the other. */
  direct: number[];
  /** What the service alone takes to ask and consume at once, between the calls by way of the proxy. */
  asked: number[];
  /** The same by way of the proxy, where an order allows it. */
  proxied: number[];
}

export async function measureProxy(environment: Record<string, string>): Promise<ProxyFigures> {
  const service = await start('../src/main.js', { ...environment, RATE_LIMIT_STORE: 'memory' });
  const [workspace] = await asOwner(environment['DATABASE_URL']!, (owner) => createWorkspaces(owner, 1));
  const direct = new McpClient(SERVER);
  const token = await prepare(service, workspace!.token);
  const proxied = new McpClient(
    [process.execPath, PROXY, 'mcp', 'proxy', '--name', 'bench', '--', ...SERVER],
    {
      CONSIGLIERE_TOKEN: token,
      CONSIGLIERE_BASE_URL: service.url,
    },
  );
  try {
    await proxied.ask('tools/list', {});
    await allow(service, workspace!.token);
    const acts = [direct, proxied].map((client) => async (index: number) => {
      const text = `text ${index}`;
      const { content } = await client.ask('tools/call', { name: 'echo', arguments: { text } });
      if (content[0]?.text !== text) throw new Error(`not allowed: ${content[0]?.text}`);
    });
    const asking = { tool: 'mcp.bench.echo', params: { text: 'text' }, consume: true };
    acts.push(async () => void (await call(`${service.url}/api/pro/action-requests`, token, asking)));
    const times: [number[], number[], number[]] = [[], [], []];
    for (const act of acts) await timed(WARM_UP, act);
    for (let index = 0; index < CALLS; index++) {
      for (const [at, act] of acts.entries()) times[at]!.push(...(await timed(1, () => act(index))));
      // As between the calls of an assistant; meanwhile the result is reported.
      await pause(PAUSE_MS);
    }
    return { direct: times[0], proxied: times[1], asked: times[2] };
  } finally {
    await Promise.all([direct.end(), proxied.end()]);
    await service.stop();
  }
}

/** Answers the token of the agent. */
async function prepare(service: Process, owner: string): Promise<string> {
  const asked = { name: 'Bench', agent: { name: 'Bench' }, tools: ['mcp.bench.*'] };
  return (await call<{ token: string }>(`${service.url}/api/pro/tokens`, owner, asked)).token;
}

/** Activates the tool as the proxy has proposed it, and has an order allow it. */
async function allow(service: Process, owner: string): Promise<void> {
  const url = `${service.url}/api/pro`;
  let tool: { fingerprint: string } | undefined;
  for (let left = 100; !tool && left > 0; left--) {
    await pause(50);
    tool = await call<{ fingerprint: string }>(`${url}/tools/mcp.bench.echo`, owner).catch(() => undefined);
  }
  const activated = await fetch(`${url}/tools/mcp.bench.echo`, {
    method: 'PATCH',
    headers: { 'x-service-token': owner, 'Content-Type': 'application/json', 'If-Match': tool!.fingerprint },
    body: JSON.stringify({ status: 'active' }),
  });
  if (!activated.ok) throw new Error(await activated.text());
  const order = { name: 'Echo', effect: 'allow', match: { actionTypes: ['mcp.bench.echo'] } };
  const made = await call<{ standingOrderId: string; version: number }>(
    `${url}/standing-orders`,
    owner,
    order,
  );
  const { standingOrderId, version } = made;
  await call(`${url}/standing-orders/${standingOrderId}/activate`, owner, { acknowledge: true, version });
}

interface Result {
  content: { text?: string }[];
}

/** Asks an MCP server over stdio, one request after the other. */
class McpClient {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  #id = 0;

  constructor([program, ...args]: readonly [string, ...string[]], environment: Record<string, string> = {}) {
    this.#child = spawn(program, args, { env: { ...process.env, ...environment } });
    this.#child.stderr.pipe(process.stderr);
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  async ask(method: string, params: object): Promise<Result> {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++this.#id, method, params })}\n`);
    return JSON.parse((await this.#lines.next()).value as string).result as Result;
  }

  async end(): Promise<void> {
    this.#child.stdin.end();
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
  }
}
