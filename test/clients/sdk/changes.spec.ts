import { randomInt } from 'node:crypto';
import { Consigliere, ConsigliereError } from '@consigliere/sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { atOnce } from '../../support/at-once.js';
import { Client } from '../../support/client.js';
import { FULL_SIZE } from '../../support/full-size.js';
import { startService } from '../../support/processes.js';
import { startTestApp } from '../../support/test-app.js';
import { type Fault, HostileProxy } from './hostile-proxy.js';

const CALLS = FULL_SIZE ? 10_000 : 200;
const AT_ONCE = 50;
/** Of ten requests so many meet a fault; some calls meet three in a row and fail. */
const FAULTS_OF_TEN = 4;

const soon = { 'Retry-After': '0' };
const FAULTS: Fault[] = [
  'reset',
  'lost answer',
  'lost answer',
  'cut body',
  'slow body',
  'silence',
  'twice',
  'two answers',
  'bad gateway',
  { status: 429, headers: soon },
  { status: 503, headers: soon, body: '{"error":' },
  { status: 200, headers: { 'Content-Type': 'application/json' }, body: '{"error":' },
];

/** One process in the same program, or two of their own: a request that is sent again may reach another than the first. */
interface Served {
  urls: string[];
  token: string;
  rows: <T>(sql: string) => Promise<T[]>;
  close(): Promise<void>;
}

let service: Served;
const proxies: HostileProxy[] = [];

beforeAll(async () => {
  service = await (FULL_SIZE ? serveFromTwo() : serveFromHere());
  const fault = () => (randomInt(10) < FAULTS_OF_TEN ? FAULTS[randomInt(FAULTS.length)] : undefined);
  for (const url of service.urls) proxies.push(await HostileProxy.start(url, fault));
}, 120_000);
afterAll(async () => {
  await Promise.all(proxies.map((one) => one.close()));
  await service?.close();
});

async function serveFromHere(): Promise<Served> {
  const app = await startTestApp();
  return { urls: [app.url], token: app.owner.token!, rows: app.rows, close: () => app.close() };
}

async function serveFromTwo(): Promise<Served> {
  const two = await startService(2);
  const urls = two.processes.map(({ url }) => url);
  return { urls, token: two.token, rows: two.rows, close: () => two.close() };
}

it(`of ${CALLS} changes over a network that loses, repeats and cuts none has two effects`, async () => {
  const [{ url: baseUrl }] = proxies as [HostileProxy];
  let turn = 0;
  const fetchAnywhere: typeof fetch = (url, init) =>
    fetch((url as string).replace(baseUrl, proxies[turn++ % proxies.length]!.url), init);
  const { token } = service;
  const client = new Consigliere({ baseUrl, token, fetch: fetchAnywhere, timeout: 2_000 });
  const outcomes = { done: 0, failed: 0 };
  const done: string[] = [];
  await atOnce(
    AT_ONCE,
    Array.from({ length: CALLS }, (_, n) => n),
    async (n) => {
      const name = `call ${n}`;
      const call =
        n % 2 === 0
          ? client.revenueEvents.record({ amount: 1, currency: 'USD', source: name })
          : client.actions.request({ tool: 'faults.none', params: { name } });
      try {
        await call;
        outcomes.done++;
        done.push(name);
      } catch (error) {
        if (!(error instanceof ConsigliereError)) throw error;
        outcomes.failed++;
      }
    },
  );
  console.table({
    calls: CALLS,
    requests: proxies.reduce((sum, { seen }) => sum + seen.length, 0),
    ...outcomes,
  });
  const effects = await service.rows<{ name: string; times: number }>(
    `select name, count(*)::int as times from (
       select source as name from revenue_events
       union all select params ->> 'name' from action_requests where tool = 'faults.none') effects
     group by name`,
  );
  expect(effects.filter(({ times }) => times !== 1)).toEqual([]);
  const names = new Set(effects.map(({ name }) => name));
  expect(done.filter((name) => !names.has(name))).toEqual([]);
  expect(outcomes.done).toBeGreaterThan(CALLS / 2);
  const { body } = await new Client(service.urls[0]!, token).get('/audit-feed/verify');
  expect(body).toMatchObject({ ok: true, faults: [] });
});
