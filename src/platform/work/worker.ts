import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { PinoLogger } from 'nestjs-pino';
import { setTimeout as pause } from 'node:timers/promises';
import { Config } from '../config/config.js';
import { Channel } from '../database/channel.js';
import { Alarms } from './alarms.js';
import { Attempts } from './attempts.js';
import { type Claimed, Claims } from './claims.repository.js';
import { Queues } from './queues.js';
import type { WorkItem, WorkKind } from './work-item.js';
import { Work, WORK_TOPIC } from './work.js';

/** An item in flight, and how to stop it. */
interface Running {
  item: WorkItem;
  controller: AbortController;
}

/** What a kind's worker needs of its surroundings; none of it may fail. */
interface Surroundings {
  claim(grants: ReadonlyMap<string, number>): Promise<Claimed>;
  run(item: WorkItem, signal: AbortSignal): Promise<void>;
}

/** Looks a little further than the next sweep, so that nothing falls between two. */
const LOOK_AHEAD_MS = 1_500;
/** How often a process that ends looks whether anything is under way. */
const DRAIN_LOOK_MS = 10;

/** Does one kind of work in this process: claims what is due as far as there is room, and sees each item to its end. */
class KindWorker {
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

const SWEEP_EVERY_MS = 1_000;
/** A look sees what fell due since the one before, and so much earlier: what is enqueued is due before its COMMIT. */
const LOOK_BACK_MS = 5_000;
/** So often a look sees all that is due, whatever this process has missed. */
const LOOK_AT_ALL_EVERY_MS = 60_000;
/** A third of a lease: two may be missed. */
const EXTEND_EVERY_MS = 2_000;
/** So many expiries of a kind are enqueued in one sweep; the next sweep enqueues the rest. */
const ENQUEUED_AT_ONCE = 1_000;

/**
 * Does the work that is due, in this process. It is told of what has just been enqueued, and looks for itself each
 * second for what has fallen due since the last look (also what a dead process left behind), and for what falls due before the
 * next one, to the millisecond.
 */
@Injectable()
export class Worker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #workers = new Map<string, KindWorker>();
  readonly #unsubscribe: (() => void)[] = [];
  #draining = false;
  #sweeping = false;
  /** The last look, by the database's clock. */
  #lookedAt = 0;
  /** The last look at all that is due, by `performance.now()`. */
  #lookedAtAllAt = -Infinity;

  constructor(
    private readonly config: Config,
    private readonly channel: Channel,
    private readonly claims: Claims,
    private readonly work: Work,
    private readonly attempts: Attempts,
    private readonly logger: PinoLogger,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.processRole === 'api') return;
    for (const kind of this.work.kinds.values()) this.begin(kind);
    const told = this.channel.subscribe(WORK_TOPIC, ({ id }) => {
      const [kind, queue] = id.split(' ', 2);
      if (queue !== undefined) this.#workers.get(kind!)?.wake(queue);
    });
    this.#unsubscribe.push(told);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.drain();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#workers.clear();
  }

  /** Claims nothing more and lets what is in flight end, which its own limits bound; what stops work still reaches it. */
  async drain(): Promise<void> {
    this.#draining = true;
    await Promise.all([...this.#workers.values()].map((worker) => worker.drain()));
  }

  @Interval('work.sweep', SWEEP_EVERY_MS)
  async sweep(): Promise<void> {
    if (this.#draining || this.#workers.size === 0 || this.#sweeping) return;
    this.#sweeping = true;
    for (const { name, enqueueDue } of this.work.kinds.values()) {
      if (enqueueDue) await this.inSweep(name, () => this.claims.enqueueDue(enqueueDue, ENQUEUED_AT_ONCE));
    }
    await this.inSweep('all', () => this.look());
    this.#sweeping = false;
  }

  private async look(): Promise<void> {
    const began = performance.now();
    const atAll = began - this.#lookedAtAllAt >= LOOK_AT_ALL_EVERY_MS;
    const since = atAll ? null : this.#lookedAt - LOOK_BACK_MS;
    const { queues, at } = await this.claims.due([...this.#workers.keys()], LOOK_AHEAD_MS, since);
    this.#lookedAt = at;
    if (atAll) this.#lookedAtAllAt = began;
    for (const worker of this.#workers.values()) worker.retry();
    for (const { kind, queue, dueInMs } of queues) this.#workers.get(kind)?.wake(queue, Math.max(0, dueInMs));
  }

  /** What one kind cannot enqueue keeps no other from being swept. */
  private async inSweep(kind: string, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.logger.warn(
        { err: error, kind },
        'the sweep for due work failed; the next one follows in a second',
      );
    }
  }

  /** Keeps the leases of everything in flight, in one statement; what is another's by now is aborted. */
  @Interval('work.extend', EXTEND_EVERY_MS)
  async extendLeases(): Promise<void> {
    const inFlight = [...this.#workers.values()].flatMap(({ running }) => [...running]);
    if (inFlight.length === 0) return;
    try {
      const kept = await this.claims.extend(inFlight.map(({ item }) => item));
      const goesOn = new Set(kept.filter((one) => !one.abortRequested).map(attemptName));
      for (const { item, controller } of inFlight) if (!goesOn.has(attemptName(item))) controller.abort();
    } catch (error) {
      // An unreachable database decides nothing; a result that comes too late is refused by its attempt.
      this.logger.warn({ err: error }, 'leases could not be extended; the next try follows in two seconds');
    }
  }

  private begin(kind: WorkKind): void {
    const worker = new KindWorker(kind, {
      claim: (grants) => this.claim(kind, grants),
      run: (item, signal) => this.attempts.run(kind, item, signal),
    });
    this.#workers.set(kind.name, worker);
    if (!kind.abortTopic) return;
    const aborted = this.channel.subscribe(kind.abortTopic, ({ workspaceId }) => worker.abort(workspaceId));
    this.#unsubscribe.push(aborted);
  }

  private async claim(kind: WorkKind, grants: ReadonlyMap<string, number>): Promise<Claimed> {
    try {
      return await this.claims.claim(kind, grants);
    } catch (error) {
      this.logger.warn({ err: error, kind: kind.name }, 'work could not be claimed; the sweep looks again');
      return { items: [], next: [...grants.keys()].map((queue) => ({ queue, dueInMs: 0, isDue: true })) };
    }
  }
}

function attemptName({ kind, id, attempt }: Pick<WorkItem, 'kind' | 'id' | 'attempt'>): string {
  return `${kind} ${id} ${attempt}`;
}
