import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { call, inParallel, quantile, spaced } from './calls.js';
import { start } from './processes.js';
import { isQuick } from './size.js';

/** What the receiver saw: when the last byte of each request had come, and when it was answered. Unix milliseconds. */
interface Arrival {
  eventId: string;
  at: number;
  answeredAt: number;
}

interface Receiver {
  hostPort: string;
  /** What arrived at a path, in order. */
  arrivals(path: string): Arrival[];
  close(): void;
}

export interface DeliveryFigures {
  /** Milliseconds from the COMMIT to the last byte at the receiver, one event at a time. */
  commitToBytes: { p50: number; p99: number };
  /** Deliveries per second of events that wait, to one destination and to eight. */
  perSecond: { one: number; eight: number };
  /** Milliseconds by which the second send came after its wait, and the third; the least and the p99. */
  lateness: Record<'1 s' | '10 s', { least: number; p99: number }>;
}

const IDLE_EVENTS = isQuick ? 40 : 300;
const WAITING_EVENTS = isQuick ? 400 : 2_000;
const FAILING_EVENTS = isQuick ? 10 : 50;

const now = () => performance.timeOrigin + performance.now();

/** Answers 200 at once; below `/failing` with 500 the first two times that an event comes. */
async function startReceiver(): Promise<Receiver> {
  const arrivals = new Map<string, Arrival[]>();
  const times = new Map<string, number>();
  const server = http.createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      const at = now();
      const eventId = request.headers['webhook-id'] as string;
      const path = request.url!;
      const delivery = `${path} ${eventId}`;
      const count = (times.get(delivery) ?? 0) + 1;
      times.set(delivery, count);
      response.statusCode = path.startsWith('/failing') && count <= 2 ? 500 : 200;
      response.end();
      const here = arrivals.get(path) ?? [];
      arrivals.set(path, here);
      here.push({ eventId, at, answeredAt: now() });
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    hostPort: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrivals: (path) => arrivals.get(path) ?? [],
    close: () => server.close().closeAllConnections(),
  };
}

/** Measures what leaves, with one process for requests and one for sending, over the database of `environment`. */
export async function measureDeliveries(
  environment: Record<string, string>,
  token: string,
): Promise<DeliveryFigures> {
  const receiver = await startReceiver();
  const database = new pg.Client({ connectionString: environment['DATABASE_URL'] });
  await database.connect();
  const settings = { ...environment, OUTBOUND_ALLOW: receiver.hostPort, RATE_LIMIT_STORE: 'memory' };
  const api = await start('../src/main.js', { ...settings, PROCESS_ROLE: 'api' });
  const worker = () => start('../src/main.js', { ...settings, PROCESS_ROLE: 'worker' });
  const post = (path: string, body: unknown) => call(`${api.url}/api/pro${path}`, token, body);
  const register = (path: string) =>
    post('/webhooks', {
      event: 'revenue.recorded',
      url: `http://${receiver.hostPort}${path}`,
      secret: 'a secret of the benchmark',
    });
  const causeEvent = () => post('/revenue-events', { amount: 1, currency: 'USD', source: 'bench' });
  try {
    const sender = await worker();
    await register('/idle');
    await spaced(IDLE_EVENTS, 20, causeEvent);
    await arrived(receiver, '/idle', IDLE_EVENTS);
    const commitToBytes = await sinceCommit(database, receiver.arrivals('/idle'));
    await register('/failing');
    await spaced(FAILING_EVENTS, 20, causeEvent);
    await arrived(receiver, '/failing', 3 * FAILING_EVENTS);
    const lateness = latenessOf(receiver.arrivals('/failing'));
    await sender.stop();

    const drained = async (paths: string[]) => {
      await database.query(`update webhook_destinations set deleted_at = now()`);
      await Promise.all(paths.map(register));
      await inParallel(16, WAITING_EVENTS / paths.length, causeEvent);
      const draining = await worker();
      for (const path of paths) await arrived(receiver, path, WAITING_EVENTS / paths.length);
      await draining.stop();
      const times = paths.flatMap((path) => receiver.arrivals(path).map(({ at }) => at));
      return times.length / ((Math.max(...times) - Math.min(...times)) / 1000);
    };
    const one = await drained(['/one']);
    const eight = await drained(Array.from({ length: 8 }, (_, index) => `/eight/${index}`));
    return { commitToBytes, perSecond: { one, eight }, lateness };
  } finally {
    await api.stop();
    await database.end();
    receiver.close();
  }
}

/** Needs `track_commit_timestamp`. */
async function sinceCommit(database: pg.Client, arrivals: readonly Arrival[]) {
  const { rows } = await database.query<{ event_id: string; committed: number }>(
    `select event_id, extract(epoch from pg_xact_commit_timestamp(xmin))::float8 * 1000 as committed
     from webhook_events where event_id = any($1)`,
    [arrivals.map(({ eventId }) => eventId)],
  );
  const committed = new Map(rows.map((row) => [row.event_id, row.committed]));
  const waits = arrivals.map(({ eventId, at }) => at - committed.get(eventId)!);
  return { p50: quantile(waits, 0.5), p99: quantile(waits, 0.99) };
}

function latenessOf(arrivals: readonly Arrival[]): DeliveryFigures['lateness'] {
  const byEvent = Map.groupBy(arrivals, ({ eventId }) => eventId);
  const late = (send: number, waitMs: number) => {
    const each = [...byEvent.values()].map((sends) => sends[send]!.at - sends[send - 1]!.answeredAt - waitMs);
    return { least: Math.min(...each), p99: quantile(each, 0.99) };
  };
  return { '1 s': late(1, 1_000), '10 s': late(2, 10_000) };
}

async function arrived(receiver: Receiver, path: string, count: number): Promise<void> {
  const until = now() + 120_000;
  while (receiver.arrivals(path).length < count) {
    if (now() > until) throw new Error(`${receiver.arrivals(path).length} of ${count} arrived at ${path}`);
    await pause(20);
  }
}
