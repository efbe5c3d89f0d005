import type { Scope } from '../database/unit-of-work.js';

/** What is due: a row of a feature, claimed for one attempt. */
export interface WorkItem {
  kind: string;
  /** The id of the row that the work is about; it is unique among the items of its kind. */
  id: string;
  workspaceId: string;
  /** Whose turn it is: items of one queue wait for each other, and each queue gets its share. */
  queue: string;
  /** The number of this claim, which no other ever has; a result counts only under the attempt that made it. */
  attempt: number;
  /** Attempts that ended in an error nobody foresaw, or that the feature asked to be counted. */
  failures: number;
  /** Claims in a row whose process did not live to say how they ended. */
  crashes: number;
  /** Why the last attempt that failed did. */
  lastError: WorkError | null;
  /** The one item that is let through to a queue whose breaker is open. */
  probe: boolean;
  /** Of the request or the work that enqueued it, if that was traced. */
  traceparent: string | null;
}

/** Why an attempt failed, as it is kept with the item and told to who gives it up. */
export interface WorkError {
  code: string;
  message: string;
}

/** In how long an item is due once more, though what was due of it was given up: it is about more than that. */
export interface Renewal {
  waitMs: number;
}

/** How one kind of work is done; a feature declares it while the program starts. */
export interface WorkKind<Item extends WorkItem = WorkItem> {
  /** `<noun>.<verb>`, unique. */
  name: string;
  /** In flight in this process, at most. */
  pool: number;
  /** In flight in this process for one queue, at most. */
  perQueue: number;
  /** In flight for one queue over all processes, at most; left out, only `perQueue` holds. */
  perQueueEverywhere?: number;
  /** After so many attempts that ended in an error nobody foresaw it is given up. */
  tries: number;
  /** The database's function that claims; it answers the columns of app.claim_work, and may add what the row says. */
  claim?: string;
  /** A function of the database that enqueues, each second, what has become due by its own clock (an expiry). */
  enqueueDue?: string;
  /** What is in flight for a workspace is aborted when a message of this topic comes for it. */
  abortTopic?: string;
  /** Does it. An item that it has neither completed nor rescheduled is complete when this ends. */
  run(item: Item, signal: AbortSignal): Promise<void>;
  /**
   * Ends the row that the item is about, in the open transaction: it failed too often, or ended its process. The item ends with
   * it unless it is renewed.
   */
  giveUp(item: Item, error: WorkError): Promise<Renewal | undefined | void>;
}

/** What a worker may see: the whole workspace. */
export function scopeOfWork({ workspaceId }: Pick<WorkItem, 'workspaceId'>): Scope {
  return { workspaceId, teamIds: 'all' };
}
