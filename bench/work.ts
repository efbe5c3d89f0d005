import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { APPLICATION_OPTIONS, initialise, rootModule } from '../src/application.js';
import { loadConfig } from '../src/platform/config/config.js';
import { Db } from '../src/platform/database/db.js';
import { newId } from '../src/platform/kernel/ids.js';
import { Work } from '../src/platform/work/work.js';
import type { WorkItem } from '../src/platform/work/work-item.js';
import { spaced, timed, until } from './calls.js';
import { isQuick } from './size.js';
import { asOwner, createWorkspaces } from './workspaces.js';

const KIND = 'bench.run';
const PICK_UPS = isQuick ? 50 : 500;
const LATE_ITEMS = isQuick ? 20 : 100;
/** What is due in the workspace beside which another is looked at. */
export const FLOOD = isQuick ? 2_000 : 10_000;
/** What one item of the flood takes, as if it called something. */
const FLOOD_ITEM_MS = 5;
const BESIDE_EVERY_MS = 20;
const WORKSPACES = 16;

export interface WorkFigures {
  /** Milliseconds from the answer to the COMMIT until the handler is called. */
  pickUp: Record<'idle' | 'beside', number[]>;
  /** Milliseconds by which the handler is called after the time that was asked for. */
  lateness: Record<'1 s' | '10 s', number[]>;
  /** Items per second that do nothing but end, each in a transaction of its own. */
  perSecond: Record<'one' | 'sixteen', number>;
}

/** Milliseconds of a look for due work, by what waits; `all` where a process has looked at nothing before. */
export interface Looks {
  each: Record<string, number[]>;
  all: Record<string, number[]>;
}

const LOOKS = isQuick ? 5 : 50;

/** What app.due_work takes with many queues, and with many items in one. */
export async function measureLooks(environment: Record<string, string>): Promise<Looks> {
  return asOwner(environment['DATABASE_URL']!, async (owner) => {
    const looks: Looks = { each: {}, all: {} };
    const look = (back: string | null) =>
      timed(LOOKS, () =>
        owner.query(`select * from app.due_work($1, '1.5 seconds', now() - $2::interval)`, [[KIND], back]),
      );
    for (const [what, queue, due] of [
      ['10 queues wait', 'n % 10', `now() + interval '1 day'`],
      ['10,000 queues wait', 'n', `now() + interval '1 day'`],
      ['10,000 queues have been due for a minute', 'n', `now() - interval '1 minute'`],
      ['one queue of 10,000 has been due for a minute', '0', `now() - interval '1 minute'`],
    ] as const) {
      await owner.query('truncate work_items');
      await owner.query(
        `insert into work_items (kind, id, workspace_id, queue, due_at)
         select $1, n, 'wks_bench', (${queue})::text, ${due} from generate_series(1, 10000) n`,
        [KIND],
      );
      looks.each[what] = await look('6 seconds');
      looks.all[what] = await look(null);
    }
    await owner.query('truncate work_items');
    return looks;
  });
}

type Handler = (item: WorkItem) => Promise<void>;

/**
 * Measures platform/work by itself: one process that enqueues and works, with a kind of its own as wide as that of sent
 * packets, over the database of `environment`.
 */
export async function measureWork(environment: Record<string, string>): Promise<WorkFigures> {
  const config = loadConfig({
    ...environment,
    NODE_ENV: 'test',
    PROCESS_ROLE: 'all',
    PORT: '0',
    LOG_LEVEL: 'error',
  });
  const url = environment['DATABASE_URL']!;
  const app = await NestFactory.create<NestExpressApplication>(
    await rootModule(config, url),
    APPLICATION_OPTIONS,
  );
  const handlers = new Map<string, Handler>();
  app.get(Work).declare({
    name: KIND,
    pool: 32,
    perQueue: 8,
    tries: 5,
    run: (item) => handlers.get(item.id)!(item),
    giveUp: (item) => Promise.reject(new Error(`${item.id} failed`)),
  });
  await initialise(app, config);
  try {
    const workspaces = await asOwner(url, (owner) => createWorkspaces(owner, WORKSPACES));
    const bench = new WorkBench(
      app.get(Db),
      app.get(Work),
      handlers,
      workspaces.map(({ workspaceId }) => workspaceId),
    );
    const idle = await bench.pickUps();
    const [second, ten] = await Promise.all([bench.lateness(1_000), bench.lateness(10_000)]);
    const beside = await bench.pickUpsBesideFlood();
    const one = await bench.rate(1);
    const sixteen = await bench.rate(WORKSPACES);
    return {
      pickUp: { idle, beside },
      lateness: { '1 s': second, '10 s': ten },
      perSecond: { one, sixteen },
    };
  } finally {
    await app.close();
  }
}

class WorkBench {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly handlers: Map<string, Handler>,
    private readonly workspaceIds: readonly string[],
  ) {}

  /** One item at a time, with nothing else to do. */
  async pickUps(): Promise<number[]> {
    const waits: number[] = [];
    await spaced(PICK_UPS, BESIDE_EVERY_MS, async () => waits.push(await this.pickUp(0)));
    return waits;
  }

  /** Items that reschedule themselves once, spread over half a second for every hundred. */
  async lateness(waitMs: number): Promise<number[]> {
    const late: number[] = [];
    await spaced(LATE_ITEMS, 5, () =>
      this.enqueue(0, 1, async (item) => {
        // Taken before the database sets the time, so nothing looks more punctual than it is.
        const due = performance.now() + waitMs;
        await this.inWorkspace(0, () => this.work.reschedule(item, waitMs));
        this.handlers.set(item.id, async () => {
          late.push(performance.now() - due);
        });
      }),
    );
    await until(() => late.length === LATE_ITEMS, waitMs + 30_000, 'every item came again');
    return late;
  }

  /** Items of one workspace while another has thousands that are due. */
  async pickUpsBesideFlood(): Promise<number[]> {
    const ended: string[] = [];
    await this.enqueue(1, FLOOD, async ({ id }) => {
      await pause(FLOOD_ITEM_MS);
      ended.push(id);
    });
    const waits: number[] = [];
    while (ended.length < FLOOD) {
      waits.push(await this.pickUp(0));
      await pause(BESIDE_EVERY_MS);
    }
    return waits;
  }

  /** So many items at once, in as many queues. */
  async rate(queues: number): Promise<number> {
    const times: number[] = [];
    const each = Math.floor(FLOOD / queues);
    const enqueued = Array.from({ length: queues }, (_, queue) =>
      this.enqueue(queue, each, async () => {
        times.push(performance.now());
      }),
    );
    await Promise.all(enqueued);
    await until(() => times.length === each * queues, 120_000, 'every item was worked on');
    return times.length / ((times.at(-1)! - times[0]!) / 1000);
  }

  private async pickUp(workspace: number): Promise<number> {
    const started = new EventTarget();
    let startedAt = 0;
    const seen = once(started, 'start');
    await this.enqueue(workspace, 1, async () => {
      startedAt = performance.now();
      started.dispatchEvent(new Event('start'));
    });
    const committedAt = performance.now();
    await seen;
    return startedAt - committedAt;
  }

  /** Enqueues so many items in one transaction, to be handled like this. */
  private async enqueue(workspace: number, count: number, handler: Handler): Promise<void> {
    const items = Array.from({ length: count }, () => ({ id: newId('req') }));
    for (const { id } of items) this.handlers.set(id, handler);
    await this.inWorkspace(workspace, () => this.work.enqueue(KIND, ...items));
  }

  private inWorkspace(workspace: number, act: () => void): Promise<void> {
    const workspaceId = this.workspaceIds[workspace]!;
    return this.db.transaction({ workspaceId, teamIds: 'all' }, async () => act());
  }
}
