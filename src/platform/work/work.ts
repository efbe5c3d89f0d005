import { Injectable } from '@nestjs/common';
import type { Statement } from '../database/batch.js';
import { Channel } from '../database/channel.js';
import { Db } from '../database/db.js';
import type { Scope } from '../database/unit-of-work.js';
import { scopeOfWork, type WorkError, type WorkItem, type WorkKind } from './work-item.js';

/** Who has work enqueued is told under this topic; the id is `<kind> <queue>`. */
export const WORK_TOPIC = 'work';

/** What is enqueued. */
interface NewWork {
  /** The row's id. */
  id: string;
  /** Left out, the workspace is the queue. */
  queue?: string;
}

/** Why work is not due yet, and for how long. */
export interface Delay {
  waitMs: number;
  because: WorkError;
}

/** How far the work on a row has come. */
export interface WorkProgress {
  /** The present one included. */
  attempts: number;
  /** Unix milliseconds; null while an attempt is under way, and while the item is parked. */
  nextAttemptAt: number | null;
  /** Why the last attempt that failed did. */
  lastError: WorkError | null;
}

/** How an attempt ends: due again after `waitMs`, or done when that is null. */
interface Ending {
  waitMs: number | null;
  error?: WorkError | null;
  failures?: number;
}

/** Rows are locked in one order, as leases are extended: two that lock some of the same rows cannot wait for each other. */
const IN_ORDER = /* sql */ `
with locked as (
  select kind, id from work_items where workspace_id = $1 and kind = any($2) order by kind, id for no key update
)`;

/**
 * Work that is due (docs/decisions/0006). Everything here belongs to the open transaction: an item exists if and only if
 * the row it is about needs it, and an attempt ends with the transaction that writes its result. Workers look for what is
 * due; what has just been enqueued they are told after the COMMIT.
 */
@Injectable()
export class Work {
  readonly kinds = new Map<string, WorkKind>();
  readonly #ended = new WeakSet<WorkItem>();

  constructor(
    private readonly db: Db,
    private readonly channel: Channel,
  ) {}

  /** Declares a kind of work; called while the program starts. */
  declare<Item extends WorkItem>(kind: WorkKind<Item>): void {
    if (this.kinds.has(kind.name)) throw new Error(`the work ${kind.name} is declared twice`);
    this.kinds.set(kind.name, kind as unknown as WorkKind);
  }

  /** Makes work due at once. What is enqueued already is due at once, too, and any attempt at it is void. */
  enqueue(kind: string, ...items: NewWork[]): void {
    if (items.length === 0) return;
    const { workspaceId } = this.db.unit.scope;
    const queues = items.map(({ queue }) => queue ?? workspaceId);
    this.db.write(
      `insert into work_items as existing (kind, id, workspace_id, queue, due_at)
       select $1, id, $2, queue, now() from unnest($3::text[], $4::text[]) as enqueued (id, queue)
       on conflict (kind, id) do update set due_at = now(), claimed = false, abort_requested = false,
         failures = 0, crashes = 0, last_error = null`,
      [kind, workspaceId, items.map(({ id }) => id), queues],
    );
    this.notify(kind, queues);
  }

  /** Makes work of the workspace due after a while; workers find it then. What is enqueued already waits as long. */
  enqueueDelayed(kind: string, id: string, { waitMs, because }: Delay): void {
    this.db.write(
      `insert into work_items as existing (kind, id, workspace_id, queue, due_at, last_error)
       values ($1, $2, $3, $3, now() + $4 * interval '1 millisecond', $5)
       on conflict (kind, id) do update set due_at = excluded.due_at, claimed = false, abort_requested = false,
         failures = 0, crashes = 0, last_error = excluded.last_error`,
      [kind, id, this.db.unit.scope.workspaceId, waitMs, JSON.stringify(because)],
    );
  }

  /**
   * Makes work due after `waitMs` at the latest. What is enqueued already is due no later than before, and an attempt at it
   * that is under way goes on: before it ends it locks the item ({@link check}) and looks for what has come meanwhile.
   */
  enqueueBy(kind: string, items: readonly { id: string; waitMs: number }[]): void {
    if (items.length === 0) return;
    const { workspaceId } = this.db.unit.scope;
    // In one order, so that two that enqueue some of the same cannot wait for each other.
    const inOrder = items.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    this.db.write(
      `insert into work_items as existing (kind, id, workspace_id, queue, due_at)
       select $1, id, $2, $2, clock_timestamp() + wait_ms * interval '1 millisecond'
       from unnest($3::text[], $4::float8[]) as enqueued (id, wait_ms)
       on conflict (kind, id) do update set due_at = least(existing.due_at, excluded.due_at) where not existing.claimed`,
      [kind, workspaceId, inOrder.map(({ id }) => id), inOrder.map(({ waitMs }) => Math.max(0, waitMs))],
    );
    this.notify(kind, [workspaceId]);
  }

  /** Makes an item due at once that waits; an attempt that is under way goes on. */
  expedite(kind: string, { id, queue }: Required<NewWork>): void {
    this.db.write(
      `update work_items set due_at = now() where workspace_id = $1 and kind = $2 and id = $3
         and not claimed and due_at > now()`,
      [this.db.unit.scope.workspaceId, kind, id],
    );
    this.notify(kind, [queue]);
  }

  /**
   * Tells workers that these queues have something due once the open transaction has committed; a function is asked for
   * them then.
   */
  notify(kind: string, queues: readonly string[] | (() => readonly string[])): void {
    const { afterCommit, scope } = this.db.unit;
    const { workspaceId } = scope;
    afterCommit.push(() => {
      const wanted = new Set(typeof queues === 'function' ? queues() : queues);
      this.channel.publishNow(
        ...[...wanted].map((queue) => ({ topic: WORK_TOPIC, workspaceId, id: `${kind} ${queue}` })),
      );
    });
  }

  /**
   * For what an attempt writes before its end: the transaction fails (see isLateResult) when the item belongs to another
   * attempt by now.
   */
  check({ kind, id, attempt }: WorkItem): void {
    this.db.write('select app.check_attempt($1, $2, $3)', [kind, id, attempt]);
  }

  /** The item is done. The transaction fails (see isLateResult) when it belongs to another attempt by now. */
  complete(item: WorkItem): void {
    this.end(item, { waitMs: null });
  }

  /** {@link complete}, after these writes, in a transaction of its own and one round trip. */
  async completeWith(item: WorkItem, writes: readonly Statement[]): Promise<void> {
    await this.db.writeAll(scopeOfWork(item), [...writes, this.ending(item, { waitMs: null })]);
  }

  /**
   * The item is due again after `waitMs`; with an error the attempt counts as failed. The transaction fails
   * (see isLateResult) when the item belongs to another attempt by now.
   */
  reschedule(item: WorkItem, waitMs: number, error: WorkError | null = null, failures = error ? 1 : 0): void {
    this.end(item, { waitMs, error, failures });
  }

  /** {@link reschedule}, after these writes, in a transaction of its own and one round trip. */
  async rescheduleWith(item: WorkItem, waitMs: number, writes: readonly Statement[]): Promise<void> {
    await this.db.writeAll(scopeOfWork(item), [...writes, this.ending(item, { waitMs })]);
  }

  /**
   * The item waits until {@link unpark} or {@link unparkAll}: its capo is paused, or nothing may leave now. With
   * an error it waits until {@link resumeParked}.
   */
  park(item: WorkItem, error: WorkError | null = null): void {
    this.end(item, { waitMs: Infinity, error });
  }

  /** Makes all work due, in every workspace, that is parked because of this error. */
  async resumeParked(errorCode: string): Promise<void> {
    await this.db.system('select app.resume_parked_work($1)', [errorCode]);
  }

  /** Whether this attempt has ended the item, or tried to. */
  hasEnded(item: WorkItem): boolean {
    return this.#ended.has(item);
  }

  /** Cancels work that is not wanted any more; an attempt at it that is under way is void. */
  cancel(kind: string, ids: readonly string[]): void {
    this.db.write('delete from work_items where workspace_id = $1 and kind = $2 and id = any($3)', [
      this.db.unit.scope.workspaceId,
      kind,
      ids,
    ]);
  }

  /**
   * Writes a statement that returns the `id` of each row it ends, and cancels the work on those; both in one round
   * trip.
   */
  cancelReturned(kind: string, { text, values = [] }: Statement): void {
    const next = values.length + 1;
    this.db.write(
      `with ended as (${text})
       delete from work_items w using ended where w.workspace_id = $${next} and w.kind = $${next + 1} and w.id = ended.id`,
      [...values, this.db.unit.scope.workspaceId, kind],
    );
  }

  /** Parks all work of these kinds in the workspace; attempts that are under way are void, and are told to stop. */
  parkAll(kinds: readonly string[]): void {
    this.db.write(
      `${IN_ORDER} update work_items w set due_at = 'infinity', claimed = false, crashes = 0
       from locked where w.kind = locked.kind and w.id = locked.id`,
      [this.db.unit.scope.workspaceId, kinds],
    );
  }

  /** Parks what nobody has claimed; attempts that are under way are asked to stop, and still say how they ended. */
  parkUnclaimed(kinds: readonly string[]): void {
    this.db.write(
      `${IN_ORDER} update work_items w set due_at = case when w.claimed then w.due_at else 'infinity' end,
         abort_requested = w.claimed
       from locked where w.kind = locked.kind and w.id = locked.id`,
      [this.db.unit.scope.workspaceId, kinds],
    );
  }

  /** Makes all parked work of these kinds in the workspace due at once. */
  unparkAll(kinds: readonly string[]): void {
    const { workspaceId } = this.db.unit.scope;
    this.db.write(
      `update work_items set due_at = now() where workspace_id = $1 and kind = any($2) and due_at = 'infinity'`,
      [workspaceId, kinds],
    );
    for (const kind of kinds) this.notify(kind, [workspaceId]);
  }

  /** Makes those of these items that are parked due at once; answers how many they were. */
  async unpark(kind: string, ids: readonly string[]): Promise<number> {
    const { workspaceId } = this.db.unit.scope;
    const unparked = await this.db.query<{ queue: string }>(
      `update work_items set due_at = now() where workspace_id = $1 and kind = $2 and due_at = 'infinity'
         and id = any($3) returning queue`,
      [workspaceId, kind, ids],
    );
    this.notify(
      kind,
      unparked.map(({ queue }) => queue),
    );
    return unparked.length;
  }

  /** How far the work on a row has come that is of one of these kinds at a time; null when there is none. */
  async progress(scope: Scope, kinds: readonly string[], id: string): Promise<WorkProgress | null> {
    const [progress] = await this.db.read<WorkProgress>(
      scope,
      `select failures + crashes + claimed::int as attempts,
         case when not claimed and due_at <> 'infinity' then app.ms(due_at) end as next_attempt_at, last_error
       from work_items where workspace_id = $1 and kind = any($2) and id = $3`,
      [scope.workspaceId, kinds, id],
    );
    return progress ?? null;
  }

  /** How many of these wait since an attempt at them failed. */
  async countPutOff(kind: string, ids: readonly string[]): Promise<number> {
    const [row] = await this.db.query<{ count: number }>(
      `select count(*)::int as count from work_items where workspace_id = $1 and kind = $2 and id = any($3)
         and not claimed and due_at > now() and last_error is not null`,
      [this.db.unit.scope.workspaceId, kind, ids],
    );
    return row!.count;
  }

  /** Makes all work of the workspace due at once that waits because of this error. */
  async hasten(errorCode: string): Promise<void> {
    const { workspaceId } = this.db.unit.scope;
    const hastened = await this.db.query<{ kind: string; queue: string }>(
      `update work_items set due_at = now() where workspace_id = $1 and not claimed and due_at > now()
         and due_at <> 'infinity' and last_error->>'code' = $2 returning kind, queue`,
      [workspaceId, errorCode],
    );
    for (const [kind, items] of Map.groupBy(hastened, (item) => item.kind)) {
      this.notify(
        kind,
        items.map(({ queue }) => queue),
      );
    }
  }

  /**
   * Nothing more of this queue is claimed until `retryMs` have passed, and then one item at a time, each that long after
   * the one before, until {@link closeBreaker}.
   */
  openBreaker(kind: string, queue: string, retryMs: number): void {
    this.db.write(
      `insert into work_breakers (kind, queue, workspace_id, opens_at, retry_every)
       values ($1, $2, $3, now() + $4 * interval '1 millisecond', $4 * interval '1 millisecond')
       on conflict (kind, queue) do update set opens_at = excluded.opens_at, retry_every = excluded.retry_every`,
      [kind, queue, this.db.unit.scope.workspaceId, retryMs],
    );
  }

  /**
   * Attempts at items of a queue that are under way are void, and are made again after the COMMIT; for a kind with a bound on what is
   * in flight everywhere, whose claims wait for the COMMIT.
   */
  restart(kind: string, queue: string): void {
    const { workspaceId } = this.db.unit.scope;
    this.db.write(`select pg_advisory_xact_lock(hashtextextended($1 || ' ' || $2, 2))`, [kind, queue]);
    this.db.write(
      `with locked as (
         select kind, id from work_items where workspace_id = $1 and kind = $2 and queue = $3 and claimed
         order by kind, id for no key update
       )
       update work_items w set due_at = now(), claimed = false, crashes = 0
       from locked where w.kind = locked.kind and w.id = locked.id`,
      [workspaceId, kind, queue],
    );
    this.notify(kind, [queue]);
  }

  /** The queue is worked on as before, beginning after the COMMIT. */
  closeBreaker(kind: string, queue: string): void {
    this.db.write('delete from work_breakers where workspace_id = $1 and kind = $2 and queue = $3', [
      this.db.unit.scope.workspaceId,
      kind,
      queue,
    ]);
    this.notify(kind, [queue]);
  }

  private end(item: WorkItem, ending: Ending): void {
    const { text, values } = this.ending(item, ending);
    this.db.write(text, values);
  }

  private ending(item: WorkItem, { waitMs, error = null, failures = 0 }: Ending) {
    this.#ended.add(item);
    return {
      text: 'select app.end_attempt($1, $2, $3, $4, $5::jsonb, $6)',
      values: [item.kind, item.id, item.attempt, waitMs, error && JSON.stringify(error), failures],
    };
  }
}
