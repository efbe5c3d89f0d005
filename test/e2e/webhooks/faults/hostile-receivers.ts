import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { receiver } from '../../../platform/receivers.js';
import { eventually } from '../../../support/test-app.js';
import { Acts } from './acts.js';
import type { Stage } from './stage.js';

const OK = 'HTTP/1.1 200 OK\r\n';
/** 128 MiB of zeros in twice what is read of an answer, so that its connection ends with it. */
const BOMB = gzipSync(Buffer.alloc(128 * 1024 * 1024));
const BLOCK = Buffer.alloc(64 * 1024, 'x');

/** Writes a byte each second until the connection ends. */
function drip(socket: Socket, head: string): void {
  socket.write(head);
  const timer = setInterval(() => socket.write('x'), 1_000);
  socket.on('close', () => clearInterval(timer));
}

function flood(socket: Socket): void {
  const more = () => {
    while (!socket.destroyed && socket.write(BLOCK));
  };
  socket.write(`${OK}Transfer-Encoding: identity\r\nConnection: close\r\n\r\n`);
  socket.on('drain', more);
  more();
}

/** What each does once it has read the request, and what must come of every attempt. */
export const HOSTILE: Record<string, { behave: (socket: Socket) => void; outcome: string }> = {
  hangs: { behave: () => undefined, outcome: 'timeout' },
  'drips headers': { behave: (socket) => drip(socket, `${OK}X-Slow: `), outcome: 'timeout' },
  'drips a body': {
    behave: (socket) => drip(socket, `${OK}Content-Length: 1000\r\n\r\n`),
    outcome: 'timeout',
  },
  'never ends': { behave: flood, outcome: '200' },
  'sends a bomb': {
    behave: (socket) =>
      socket.write(
        Buffer.concat([
          Buffer.from(`${OK}Content-Encoding: gzip\r\nContent-Length: ${BOMB.length}\r\n\r\n`),
          BOMB,
        ]),
      ),
    outcome: '200',
  },
  resets: { behave: (socket) => socket.resetAndDestroy(), outcome: 'reset' },
  'sends 30 KB of headers': {
    behave: (socket) => socket.write(`${OK}X-Big: ${'x'.repeat(30_000)}\r\nContent-Length: 0\r\n\r\n`),
    outcome: 'headers_too_large',
  },
};

export interface Hostile {
  name: string;
  port: number;
}

/** Milliseconds from a request to the end of its connection, on the receivers' side; an open one has its age. */
class Exchanges {
  #longest = 0;
  readonly #open = new Map<Socket, number>();

  begin(socket: Socket): void {
    const began = performance.now();
    this.#open.set(socket, began);
    socket.once('close', () => {
      this.#open.delete(socket);
      this.#longest = Math.max(this.#longest, performance.now() - began);
    });
  }

  get longest(): number {
    return Math.max(this.#longest, ...[...this.#open.values()].map((began) => performance.now() - began));
  }
}

const exchanges = new Exchanges();

/** Starts them; their ports must be allowed before the workers start. */
export async function startHostileReceivers(): Promise<Hostile[]> {
  return Promise.all(
    Object.entries(HOSTILE).map(async ([name, { behave }]) => ({
      name,
      port: (
        await receiver((socket) => {
          exchanges.begin(socket);
          behave(socket);
        })
      ).port,
    })),
  );
}

interface Latency {
  p50: number;
  p99: number;
}

export interface HostileReceivers {
  /** From before the COMMIT to the arrival at the healthy receiver, in milliseconds: the only one of its workspace. */
  alone: Latency;
  /** Beside as many others that answer at once: what the number of them costs. */
  besideHealthy: Latency;
  besideHostile: Latency;
  /** Events that the healthy receiver did not get, or got twice. */
  lost: number;
  twice: number;
  /** Attempts at the hostile ones, by receiver and outcome. */
  outcomes: Record<string, Record<string, number>>;
  /** The longest of them as recorded, and the longest exchange as the hostile ones saw it, in milliseconds. */
  longest: { recorded: number; seen: number };
  /** Resident memory of the larger worker in MB: before, and the most of it since it started. */
  memory: { before: number; most: number };
}

/**
 * Sends each event to a healthy receiver: first alone, then beside other healthy ones, then beside as many hostile ones,
 * each a destination of the same workspace.
 */
export async function sendToHostileReceivers(
  stage: Stage,
  hostile: Hostile[],
  { events, rate }: { events: number; rate: number },
): Promise<HostileReceivers> {
  const { service, receiver: healthy, workers } = stage;
  const place = healthy.place();
  const tenant = await stage.tenant(place);
  const acts = await Acts.open(service.database.url);
  // What is deleted is sent no more.
  const remove = (ids: string[]) =>
    service.rows(`update webhook_destinations set deleted_at = now() where destination_id = any($1)`, [ids]);
  const send = async (count: number) => {
    const began = performance.now();
    const sent: { eventId: string; at: number }[] = [];
    for (let index = 0; index < count; index++) {
      await sleep(Math.max(0, began + (index * 1000) / rate - performance.now()));
      sent.push(await acts.recordRevenue(tenant.workspaceId));
    }
    await eventually(async () => sent.every(({ eventId }) => place.arrivals.has(eventId)), Boolean, 15).catch(
      () => undefined,
    );
    return sent;
  };
  await send(10); // what starts cold: statements, connections
  const quiet = await send(events);
  const others = await Promise.all(
    hostile.map(() => stage.register(tenant.workspaceId, healthy.place().url)),
  );
  const busy = await send(events);
  await remove(others);
  const before = Math.max(...workers.map(({ pid }) => memoryOf(pid, 'VmRSS')));
  const named = new Map<string, string>();
  for (const { name, port } of hostile) {
    named.set(await stage.register(tenant.workspaceId, `http://127.0.0.1:${port}/`), name);
  }
  const loud = await send(events);
  // Until the first ten of those that hang have ended, at their ten seconds.
  const attempts = await eventually(
    () =>
      service.rows<{ destination_id: string; status: number | null; error: string | null; duration: number }>(
        `select destination_id, (a->>'status')::int as status, a->>'error' as error, (a->>'durationMs')::int as duration
         from webhook_deliveries, jsonb_array_elements(attempts) a where destination_id = any($1)`,
        [[...named.keys()]],
      ),
    (rows) =>
      [...named].every(([id]) => rows.filter(({ destination_id }) => destination_id === id).length >= 10),
    20,
  );
  const most = Math.max(...workers.map(({ pid }) => memoryOf(pid, 'VmHWM')));
  await remove([...named.keys()]);
  await acts.close();
  const outcomes: Record<string, Record<string, number>> = {};
  for (const { destination_id, status, error } of attempts) {
    const of = (outcomes[named.get(destination_id)!] ??= {});
    const outcome = error ?? String(status);
    of[outcome] = (of[outcome] ?? 0) + 1;
  }
  const all = [...quiet, ...busy, ...loud];
  return {
    alone: latency(quiet, place.arrivals),
    besideHealthy: latency(busy, place.arrivals),
    besideHostile: latency(loud, place.arrivals),
    lost: all.filter(({ eventId }) => !place.arrivals.has(eventId)).length,
    twice: all.filter(({ eventId }) => (place.arrivals.get(eventId)?.length ?? 0) > 1).length,
    outcomes,
    longest: {
      recorded: Math.max(...attempts.map(({ duration }) => duration)),
      seen: Math.round(exchanges.longest),
    },
    memory: { before, most },
  };
}

function latency(sent: { eventId: string; at: number }[], arrivals: Map<string, number[]>): Latency {
  const waits = sent.flatMap(({ eventId, at }) =>
    arrivals.has(eventId) ? arrivals.get(eventId)![0]! - at : [],
  );
  waits.sort((one, two) => one - two);
  const at = (share: number) => Math.round((waits[Math.floor(waits.length * share)] ?? NaN) * 10) / 10;
  return { p50: at(0.5), p99: at(0.99) };
}

/** Megabytes. Linux tells this of any process. */
function memoryOf(pid: number, what: 'VmRSS' | 'VmHWM'): number {
  const line = new RegExp(`^${what}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Math.round(Number(line![1]) / 1024);
}
