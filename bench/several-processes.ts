import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { call } from './calls.js';
import { type Process, start } from './processes.js';
import { isQuick } from './size.js';
import { startMailReceiver } from './soak/mail-receiver.js';
import { asOwner, createWorkspaces, type Workspace } from './workspaces.js';

const COUNTS = [1, 2, 4] as const;
const ROUNDS = isQuick ? 1 : 3;
const WORKSPACES = 8;
const CLIENTS = 16;
const HAND_INS = isQuick ? 200 : 2_000;
const JOBS = isQuick ? 48 : 400;
/** Of each process, before anything is measured: until V8 has compiled what is hot a hand-in costs it half as much again. */
const WARM_UP = isQuick ? { handIns: 40, jobs: 12 } : { handIns: 2_000, jobs: 200 };
const TEXT = 'Email jane@acme.example, subject "Your order": Your order ships on Friday.';

/** What so many processes get done in a second, by rounds. */
export interface Throughput {
  processes: number;
  handIns: number[];
  /** From the hand-in over its approval to the mail that was sent. */
  jobs: number[];
}

/**
 * One, two and four processes over one database, in rounds that take turns, so that a slow moment of the machine falls on
 * all. They count limits together, as several processes have to.
 */
export async function measureProcesses(environment: Record<string, string>): Promise<Throughput[]> {
  const mails = await startMailReceiver();
  const settings = { ...environment, SMTP_URL: mails.url, RATE_LIMIT_STORE: 'postgres' };
  try {
    return await asOwner(environment['DATABASE_URL']!, async (owner) => {
      const all: Throughput[] = COUNTS.map((processes) => ({ processes, handIns: [], jobs: [] }));
      for (let round = 0; round < ROUNDS; round++) {
        for (const one of all) {
          one.handIns.push(await handIns(owner, settings, one.processes));
          one.jobs.push(await jobs(owner, settings, one.processes));
        }
      }
      return all;
    });
  } finally {
    await mails.close();
  }
}

/** Hand-ins in a second of one process, by rounds that take turns, and how often the collector was sent steps of traces. */
export interface Traced {
  without: number[];
  withCollector: number[];
  batches: number;
}

/** What it costs a hand-in that its trace is sent to a collector. */
export async function measureTracing(environment: Record<string, string>): Promise<Traced> {
  const traced: Traced = { without: [], withCollector: [], batches: 0 };
  const collector = createServer((request, response) => {
    traced.batches++;
    request.resume().on('end', () => response.end('{}'));
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo;
  const withCollector = { ...environment, OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
  try {
    await asOwner(environment['DATABASE_URL']!, async (owner) => {
      for (let round = 0; round < ROUNDS * 3; round++) {
        traced.without.push(await handIns(owner, environment, 1));
        traced.withCollector.push(await handIns(owner, withCollector, 1));
      }
    });
  } finally {
    collector.closeAllConnections();
    collector.close();
  }
  return traced;
}

async function handIns(
  owner: pg.Client,
  environment: Record<string, string>,
  count: number,
): Promise<number> {
  const workspaces = await createWorkspaces(owner, WORKSPACES);
  const perSecond = await withProcesses(count, { ...environment, PROCESS_ROLE: 'api' }, async (urls) => {
    const handIn = (index: number) => post(urls, workspaces, index, '/directive', { text: TEXT });
    await inTurns(WARM_UP.handIns * count, handIn);
    return rate(HAND_INS, () => inTurns(HAND_INS, handIn));
  });
  // Nobody drafts them while jobs are measured.
  await owner.query(`update work_items set due_at = 'infinity'`);
  return perSecond;
}

async function jobs(owner: pg.Client, environment: Record<string, string>, count: number): Promise<number> {
  const workspaces = await createWorkspaces(owner, WORKSPACES);
  const ids = workspaces.map(({ workspaceId }) => workspaceId);
  return withProcesses(count, { ...environment, PROCESS_ROLE: 'all' }, async (urls) => {
    const job = async (index: number) => {
      const { approvalId } = await post<{ approvalId: string }>(urls, workspaces, index, '/directive', {
        text: TEXT,
      });
      const { token } = of(workspaces, index);
      let ready = false;
      while (!ready) {
        const url = `${of(urls, index)}/api/pro/approvals/${approvalId}?wait=10`;
        ({ ready } = await call<{ ready: boolean }>(url, token));
      }
      await post(urls, workspaces, index, `/approvals/${approvalId}/approve`, {});
    };
    const sent = async (times: number) => {
      const { rows } = await owner.query<{ n: number }>(
        `select count(*)::int as n from work_packets where status = 'executed' and workspace_id = any($1)`,
        [ids],
      );
      return rows[0]!.n >= times;
    };
    const done = async (before: number, times: number) => {
      await inTurns(times, job);
      while (!(await sent(before + times))) await pause(5);
    };
    const warmUp = WARM_UP.jobs * count;
    await done(0, warmUp);
    return rate(JOBS, () => done(warmUp, JOBS));
  });
}

/** Jobs take turns at the processes; what a job leaves to do is done in whichever process claims it. */
function post<T>(
  urls: readonly string[],
  workspaces: readonly Workspace[],
  index: number,
  path: string,
  body: object,
): Promise<T> {
  return call<T>(`${of(urls, index)}/api/pro${path}`, of(workspaces, index).token, body);
}

function of<T>(list: readonly T[], index: number): T {
  return list[index % list.length]!;
}

async function rate(count: number, act: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await act();
  return count / ((performance.now() - began) / 1_000);
}

async function inTurns(count: number, act: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      while (next < count) await act(next++);
    }),
  );
}

async function withProcesses<T>(
  count: number,
  environment: Record<string, string>,
  work: (urls: string[]) => Promise<T>,
): Promise<T> {
  const processes: Process[] = [];
  try {
    while (processes.length < count) processes.push(await start('../src/main.js', environment));
    return await work(processes.map(({ url }) => url));
  } finally {
    await Promise.all(processes.map((one) => one.stop()));
  }
}
