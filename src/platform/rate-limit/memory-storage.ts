import { Db } from '../database/db.js';
import { Clock } from '../kernel/clock.js';
import { type Window, windowEnd, type WindowState } from './windows.js';
import { WindowStorage } from './window-storage.js';

interface Counter {
  hits: number;
  resetAt: number;
  /** What of the hits is not in the database yet; only the windows of a day are ever saved. */
  unsaved: number;
}

/** What was counted in one window. */
export interface Counted {
  key: string;
  hits: number;
  resetAt: number;
}

interface DayCounter extends Counter {
  workspaceId: string;
}

/** Windows that have ended are dropped when this many are held, so that changing addresses cannot fill the memory. */
const SWEEP_AT = 50_000;

/**
 * Counts in this process: exact for one process. The windows of a minute may be forgotten with the process; those of
 * a day are saved each second and when the program ends, and read back.
 */
export class MemoryStorage extends WindowStorage {
  readonly #counters = new Map<string, Counter>();
  readonly #days = new Map<string, DayCounter>();

  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async hit(windows: readonly Window[]): Promise<WindowState[]> {
    const now = this.clock.now();
    const states: WindowState[] = [];
    for (const window of windows) {
      const counter = window.policy === 'tier-day' ? await this.day(window, now) : this.counter(window, now);
      const { hits, resetAt } = counter;
      if (hits < window.limit) {
        counter.hits++;
        counter.unsaved++;
      }
      states.push({ ...window, hits: hits + 1, resetAt });
    }
    return states;
  }

  override async everySecond(): Promise<void> {
    for (const counter of this.#days.values()) {
      const { unsaved, workspaceId } = counter;
      if (unsaved === 0) continue;
      counter.unsaved = 0;
      try {
        await this.db.transaction({ workspaceId, teamIds: [] }, (unit) =>
          unit.query(ADD_TO_DAY, [workspaceId, dayOf(counter.resetAt), unsaved, null]),
        );
      } catch {
        counter.unsaved += unsaved; // the next second tries again
      }
    }
  }

  override async end(): Promise<void> {
    await this.everySecond();
  }

  /** Gives away what is counted in windows that are still open; those of a day are in the database. */
  async handOver(take: (counted: readonly Counted[]) => Promise<void>): Promise<void> {
    await this.everySecond();
    const now = this.clock.now();
    const open = [...this.#counters].filter(([, { resetAt }]) => resetAt > now);
    if (open.length === 0) return;
    await take(open.map(([key, { hits, resetAt }]) => ({ key, hits, resetAt })));
    this.#counters.clear();
  }

  private counter(window: Window, now: number): Counter {
    const found = this.#counters.get(window.key);
    if (found && found.resetAt > now) return found;
    if (this.#counters.size >= SWEEP_AT) {
      for (const [key, counter] of this.#counters) if (counter.resetAt <= now) this.#counters.delete(key);
    }
    const counter = { hits: 0, unsaved: 0, resetAt: windowEnd(now, window.windowSeconds) };
    this.#counters.set(window.key, counter);
    return counter;
  }

  private async day(window: Window, now: number): Promise<DayCounter> {
    const found = this.#days.get(window.key);
    if (found && found.resetAt > now) return found;
    const resetAt = windowEnd(now, window.windowSeconds);
    const workspaceId = window.key.slice(window.key.lastIndexOf(' ') + 1);
    const [saved] = await this.db.read<{ hits: number }>(
      { workspaceId, teamIds: [] },
      'select hits from tier_days where workspace_id = $1 and day = $2',
      [workspaceId, dayOf(resetAt)],
    );
    // Another request may have read it meanwhile; its counter is the one that goes on.
    const current = this.#days.get(window.key);
    if (current && current.resetAt > now) return current;
    const counter = { hits: saved?.hits ?? 0, resetAt, workspaceId, unsaved: 0 };
    this.#days.set(window.key, counter);
    return counter;
  }
}

/** Adds to the day's counter of a workspace: workspace, day, hits, and the limit at which it answers no row; null: none. */
export const ADD_TO_DAY = /* sql */ `
insert into tier_days as kept (workspace_id, day, hits) values ($1, $2, $3)
on conflict (workspace_id, day) do update set hits = kept.hits + excluded.hits
where $4::bigint is null or kept.hits < $4
returning hits`;

/** The day (UTC) that ends at `resetAt`, as PostgreSQL takes it. */
export function dayOf(resetAt: number): string {
  return new Date(resetAt - 1).toISOString().slice(0, 10);
}
