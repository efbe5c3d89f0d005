import { setTimeout as pause } from 'node:timers/promises';
import { Alarms } from './alarms.js';
import { Queues } from './queues.js';
import type { Claimed } from './claims.repository.js';
import type { WorkItem, WorkKind } from './work-item.js';

/** An item in flight, and how to stop it. */
export interface Running {
  item: WorkItem;
  controller: AbortController;
}

/** What a kind's worker needs of its surroundings; none of it may fail. */
interface Surroundings {
  claim(grants: ReadonlyMap<string, number>): Promise<Claimed>;
  run(item: WorkItem, signal: AbortSignal): Promise<void>;
}

/** Looks a little further than the next sweep, so that nothing falls between two. */
export const LOOK_AHEAD_MS = 1_500;
/** How often a process that ends looks whether anything is under way. */
const DRAIN_LOOK_MS = 10;

/** Does one kind of work in this process: claims what is due as far as there is room, and sees each item to its end. */
export class KindWorker {
  readonly running = new Set<Running>();
  readonly #queues: Queues;
  readonly #alarms = new Alarms((queue) => this.wake(queue));
  #claiming = false;
  #closed = false;

  constructor(
    kind: Pick<WorkKind, 'pool' | 'perQueue'>,
    private readonly surroundings: Surroundings,
  ) {
    this.#queues = new Queues(kind);
  }

  /** This queue may have something due, now or in so many milliseconds. */
  wake(queue: string, inMs = 0): void {
    if (this.#closed) return;
    if (inMs > 0) {
      this.#alarms.set(queue, inMs);
      return;
    }
    this.#queues.wake(queue);
    void this.claimAll();
  }

  /** Looks again at what was due and could not be claimed. */
  retry(): void {
    this.#queues.retry();
    void this.claimAll();
  }

  abort(workspaceId: string): void {
    for (const { item, controller } of this.running) {
      if (item.workspaceId === workspaceId) controller.abort();
    }
  }

  /** Claims nothing more, and lets what is under way end. */
  async drain(): Promise<void> {
    this.#closed = true;
    this.#alarms.clear();
    while (this.#claiming || !this.#queues.isIdle) await pause(DRAIN_LOOK_MS);
  }

  private async claimAll(): Promise<void> {
    if (this.#claiming) return;
    this.#claiming = true;
    for (;;) {
      const grants = this.#closed ? new Map<string, number>() : this.#queues.grant();
      if (grants.size === 0) break;
      const { items, next } = await this.surroundings.claim(grants);
      const counts = new Map<string, number>();
      for (const { queue } of items) counts.set(queue, (counts.get(queue) ?? 0) + 1);
      const left = new Set(next.filter(({ isDue }) => isDue).map(({ queue }) => queue));
      for (const [queue, room] of grants) {
        this.#queues.claimed(queue, counts.get(queue) ?? 0, room, left.has(queue));
      }
      for (const { queue, dueInMs, isDue } of next) {
        if (!isDue && dueInMs <= LOOK_AHEAD_MS) this.wake(queue, dueInMs);
      }
      for (const item of items) void this.run(item);
    }
    this.#claiming = false;
  }

  private async run(item: WorkItem): Promise<void> {
    const running = { item, controller: new AbortController() };
    this.running.add(running);
    await this.surroundings.run(item, running.controller.signal);
    this.running.delete(running);
    this.#queues.ended(item.queue);
    void this.claimAll();
  }
}
