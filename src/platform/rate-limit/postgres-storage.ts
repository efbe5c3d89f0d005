import { type BeforeApplicationShutdown, Injectable, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type { Statement } from '../database/batch.js';
import { Channel } from '../database/channel.js';
import { Db } from '../database/db.js';
import { Clock } from '../kernel/clock.js';
import { ADD_TO_DAY, type Counted, dayOf, MemoryStorage } from './memory-storage.js';
import { WindowStorage } from './window-storage.js';
import { type Window, windowEnd, type WindowState } from './windows.js';

/** Keeps the counters. Apart from them, since the throttler provides the same store once more under a name of its own. */
@Injectable()
export class WindowUpkeep implements OnModuleInit, BeforeApplicationShutdown {
  constructor(private readonly windows: WindowStorage) {}

  async onModuleInit(): Promise<void> {
    await this.windows.start();
  }

  @Interval(1000)
  async everySecond(): Promise<void> {
    await this.windows.everySecond();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.windows.end();
  }
}

/** Answers no row where the limit was reached before. */
const HIT = /* sql */ `
insert into rate_windows as kept (key, hits, ends_at) values ($1, 1, $2)
on conflict (key) do update set
  hits = case when kept.ends_at >= excluded.ends_at then kept.hits + 1 else 1 end,
  ends_at = greatest(kept.ends_at, excluded.ends_at)
where kept.hits < $3 or kept.ends_at < excluded.ends_at
returning hits, ends_at`;

const ADD = /* sql */ `
insert into rate_windows as kept (key, hits, ends_at)
select key, hits, ends_at from unnest($1::text[], $2::bigint[], $3::timestamptz[]) counted (key, hits, ends_at)
on conflict (key) do update set
  hits = case when kept.ends_at >= excluded.ends_at then kept.hits + excluded.hits else excluded.hits end,
  ends_at = greatest(kept.ends_at, excluded.ends_at)`;

const DROP_EVERY_MS = 60_000;

/** Counts in PostgreSQL: exact for any number of processes over one database. One round trip a step. */
export class PostgresStorage extends WindowStorage {
  #dropAt = 0;

  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async hit(windows: readonly Window[]): Promise<WindowState[]> {
    const now = this.clock.now();
    const workspaceId = windows.map(workspaceOf).find((id) => id !== undefined) ?? '';
    const statements: Statement[] = windows.map((window) => {
      const resetAt = windowEnd(now, window.windowSeconds);
      return window.policy === 'tier-day'
        ? { text: ADD_TO_DAY, values: [workspaceId, dayOf(resetAt), 1, window.limit] }
        : { text: HIT, values: [window.key, new Date(resetAt), window.limit] };
    });
    const counted = await this.db.writeAll({ workspaceId, teamIds: [] }, statements);
    return windows.map((window, index) => {
      const [row] = counted[index] as { hits: number; endsAt?: number }[];
      const resetAt = row?.endsAt ?? windowEnd(now, window.windowSeconds);
      return { ...window, hits: row?.hits ?? window.limit + 1, resetAt };
    });
  }

  /** Adds what was counted elsewhere. */
  async add(counted: readonly Counted[]): Promise<void> {
    await this.db.system(ADD, [
      counted.map(({ key }) => key),
      counted.map(({ hits }) => hits),
      counted.map(({ resetAt }) => new Date(resetAt)),
    ]);
  }

  override async everySecond(): Promise<void> {
    const now = this.clock.now();
    if (now < this.#dropAt) return;
    this.#dropAt = now + DROP_EVERY_MS;
    await this.db
      .system(`delete from rate_windows where ends_at < now() - interval '1 minute'`)
      .catch(() => undefined);
  }
}

function workspaceOf(window: Window): string | undefined {
  return window.policy === 'tier-day' ? window.key.slice(window.key.lastIndexOf(' ') + 1) : undefined;
}

/**
 * Counts in memory while this is the only process of its database, and in PostgreSQL from the moment that another is
 * there: one that starts later sees the first before it answers anything, and the first sees it within a second and
 * hands over what it has counted.
 */
export class AutomaticStorage extends WindowStorage {
  #alone = true;

  constructor(
    private readonly memory: MemoryStorage,
    private readonly shared: PostgresStorage,
    private readonly channel: Channel,
  ) {
    super();
  }

  override hit(windows: readonly Window[]): Promise<WindowState[]> {
    return (this.#alone ? this.memory : this.shared).hit(windows);
  }

  override async start(): Promise<void> {
    this.#alone = !(await this.channel.hasPeers());
  }

  override async everySecond(): Promise<void> {
    if (this.#alone) this.#alone = !(await this.channel.hasPeers().catch(() => false));
    if (this.#alone) return this.memory.everySecond();
    await this.memory.handOver((counted) => this.shared.add(counted));
    await this.shared.everySecond();
  }

  override async end(): Promise<void> {
    await this.memory.end();
  }
}
