import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Db } from '../database/db.js';
import type { WorkItem, WorkKind } from './work-item.js';

/** How long an item stays its claimer's unless the lease is extended: what a killed process had claimed is free soon after. */
const LEASE_MS = 6_000;

/** A queue with something due, in so many milliseconds. */
interface DueQueue {
  kind: string;
  queue: string;
  dueInMs: number;
}

/** What a claim got, and what is first in those queues now. */
export interface Claimed {
  items: WorkItem[];
  /** `isDue`: it was due when the claim was made, and there was no room for it. */
  next: (Pick<DueQueue, 'queue' | 'dueInMs'> & { isDue: boolean })[];
}

/** An item that is still its claimer's. */
interface KeptItem extends Pick<WorkItem, 'kind' | 'id' | 'attempt'> {
  abortRequested: boolean;
}

/** The statements that look across workspaces: what is due, who claims it, who keeps it. All go by the database's clock. */
@Injectable()
export class Claims {
  /** This process, as long as it lives. */
  readonly #claimer = randomUUID();

  constructor(private readonly db: Db) {}

  /** Claims from each queue as many items as there is room for, and tells what is first in each now. */
  async claim(kind: WorkKind, grants: ReadonlyMap<string, number>): Promise<Claimed> {
    const queues = [...grants.keys()];
    const [items, next] = (await this.db.systemAll([
      {
        text: `select * from ${kind.claim ?? 'app.claim_work'}($1, $2, $3, $4, $5 * interval '1 millisecond', $6)`,
        values: [
          kind.name,
          queues,
          [...grants.values()],
          kind.perQueueEverywhere ?? null,
          LEASE_MS,
          this.#claimer,
        ],
      },
      { text: 'select queue, due_in_ms, is_due from app.next_work($1, $2)', values: [kind.name, queues] },
    ])) as [WorkItem[], Claimed['next']];
    for (const item of items) item.kind = kind.name;
    return { items, next };
  }

  /**
   * The queues with something that fell due since then (null: whenever), or falls due within `aheadMs`; and when that was
   * looked for, by the database's clock.
   */
  async due(
    kinds: readonly string[],
    aheadMs: number,
    since: number | null,
  ): Promise<{ queues: DueQueue[]; at: number }> {
    const [queues, [moment]] = (await this.db.systemAll([
      {
        text: `select kind, queue, due_in_ms from app.due_work($1, $2 * interval '1 millisecond', $3)`,
        values: [kinds, aheadMs, since === null ? null : new Date(since)],
      },
      { text: 'select now() as at' },
    ])) as [DueQueue[], [{ at: number }]];
    return { queues, at: moment.at };
  }

  /** Lets a kind enqueue what has become due by its own clock. */
  async enqueueDue(enqueueDue: string, limit: number): Promise<void> {
    await this.db.system(`select ${enqueueDue}($1)`, [limit]);
  }

  /** Keeps these items for another lease; answers those that still are their claimer's. */
  extend(items: readonly WorkItem[]): Promise<KeptItem[]> {
    return this.db.system<KeptItem>(
      `select kind, id, attempt, abort_requested
       from app.extend_work($1, $2, $3, $4 * interval '1 millisecond')`,
      [
        items.map(({ kind }) => kind),
        items.map(({ id }) => id),
        items.map(({ attempt }) => attempt),
        LEASE_MS,
      ],
    );
  }
}
