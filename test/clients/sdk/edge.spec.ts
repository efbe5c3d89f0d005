import { readFileSync } from 'node:fs';
import { createContext, Script } from 'node:vm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AgentDesk, TOOL } from './agent-desk.js';

const BUILT = new URL('../../../clients/sdk/dist/cjs/', import.meta.url);

/** What every edge runtime has (WinterTC, Minimum Common Web API): no `process`, no `Buffer`, no module of Node.js. */
const WEB = [
  ...['AbortController', 'AbortSignal', 'DOMException', 'Event', 'EventTarget', 'Headers', 'ReadableStream'],
  ...['Request', 'Response', 'TextDecoder', 'TextDecoderStream', 'TextEncoder', 'URL', 'URLSearchParams'],
  ...['atob', 'btoa', 'clearTimeout', 'crypto', 'fetch', 'performance', 'queueMicrotask', 'setTimeout'],
] as (keyof typeof globalThis)[];

/** Loads what was built into a global scope of its own that has nothing else. */
function edgeRuntime(): (file: string) => any {
  const context = createContext(Object.fromEntries(WEB.map((name) => [name, globalThis[name]])));
  const modules = new Map<string, { exports: object }>();
  const load = (url: URL): object => {
    const known = modules.get(url.href);
    if (known) return known.exports;
    const made = { exports: {} };
    modules.set(url.href, made);
    const require = (name: string) => {
      if (!name.startsWith('.')) throw new Error(`${url.pathname} needs ${name}`);
      return load(new URL(name, url));
    };
    const wrapped = `(function (exports, require, module) {${readFileSync(url, 'utf8')}\n})`;
    new Script(wrapped, { filename: url.pathname }).runInContext(context)(made.exports, require, made);
    return made.exports;
  };
  return (file) => load(new URL(file, BUILT));
}

const load = edgeRuntime();
const sdk = load('index.js') as typeof import('@consigliere/sdk');
let desk: AgentDesk;
beforeAll(async () => {
  desk = await AgentDesk.open();
});
afterAll(() => desk?.close());

it('calls, retries, reads pages and streams where there are only fetch and WebCrypto', async () => {
  // Without an environment too.
  expect(() => new sdk.Consigliere()).toThrow('There is no token');
  const client = new sdk.Consigliere({ baseUrl: desk.proxy.url, token: desk.test.owner.token! });
  const faults = ['reset', 'lost answer'] as const;
  let sent = 0;
  desk.fault = () => faults[sent++];
  await client.revenueEvents.record({ amount: 1, currency: 'USD', source: 'edge' });
  expect(await desk.test.rows(`select 1 from revenue_events where source = 'edge'`)).toHaveLength(1);
  desk.fault = () => undefined;
  for (const source of ['edge 2', 'edge 3'])
    await client.revenueEvents.record({ amount: 1, currency: 'USD', source });
  expect(await client.revenueEvents.list({ limit: 2 }).toArray()).toHaveLength(3);
  const missing = await client.directives.get('dir_00000000000000000000000000').catch((error) => error);
  expect(missing).toBeInstanceOf(sdk.NotFoundError);
  const stream = client.feed.stream({ lastEventId: 0 });
  expect((await stream.next()).value).toMatchObject({ seq: 1 });
  await stream.return();
});

it('guards a tool there, and verifies its permits and the signatures of events', async () => {
  const { Consigliere, permits, webhooks } = sdk;
  const { url: issuer, workspaceId } = desk.test;
  const agent = new Consigliere({ baseUrl: desk.proxy.url, token: desk.token });
  const refund = agent.actions.guard(TOOL, (params, { permit }) =>
    permits.verify(permit, { issuer, workspaceId, tool: TOOL, params }),
  );
  expect(await refund({ order: 'edge', amount: 20 })).toMatchObject({ tool: TOOL, edited: false });
  expect(await refund({ order: 'edge', amount: 5_000 })).toMatch(/The standing orders do not allow this/);
  await desk.expectStatuses('edge', ['completed', 'denied']);

  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const body = JSON.stringify({ event: 'report.daily', timestamp: 1, workspaceId, payload: {} });
  const headers = await webhooks.sign(body, secret);
  expect((await webhooks.unwrap(body, headers, secret)).event).toBe('report.daily');
});

it.each(['ai', 'openai-agents', 'langchain', 'claude-agent', 'admin'])('loads /%s there', (subpath) => {
  expect(Object.keys(load(`${subpath}.js`))).not.toEqual([]);
});
