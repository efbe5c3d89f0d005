import type { PoolClient } from 'pg';
import { RequestContext } from '../kernel/request-context.js';
import { Batch, type Statement } from './batch.js';
import { ROW_TYPES } from './data-source.js';
import { COMMITTED, positionIn, type WalPosition } from './wal-position.js';

/** What the caller may see: a workspace, and in it all teams, some teams, or (with none) what belongs to no team. */
export interface Scope {
  workspaceId: string;
  teamIds: readonly string[] | 'all';
}

/** The stored answer of an idempotent request. */
export interface StoredAnswer {
  memberId: string;
  key: string;
  fingerprint: string;
  status: number;
  contentType: string;
  headers: Record<string, string>;
  body: string;
}

/** Who calls, with the rights that the act was admitted with. */
export interface AdmittedCaller {
  memberId: string;
  role: string;
  teamRoles: Readonly<Record<string, string>>;
}

/** A receipt ready for the chain: the exact bytes to hash, and the columns to find it by. */
export interface ReceiptRow {
  receiptId: string;
  at: number;
  actorType: string;
  actorId: string;
  action: string;
  entityType: string;
  entityId: string;
  directiveId: string | null;
  teamId: string | null;
  capo: string | null;
  body: string;
}

/** An event for the outside, as far as the act knows it: the head of the chain is put in where it is known. */
export interface EventRow {
  eventId: string;
  event: string;
  requestId: string;
  /** The body without the end of its payload. */
  bodyStart: string;
  /** For this destination alone, whether or not it receives such events, under this id. */
  only?: { destinationId: string; deliveryId: string };
}

/**
 * One transaction on one connection. Statements of a batch travel in one message, the first with the BEGIN in front of it, so
 * a mutation takes two or three round trips: locks and reads, and finish. What the act leaves behind (receipts, events, messages, the stored answer) is collected here
 * and written with the COMMIT; what workers need only be notified of waits in `afterCommit`.
 */
export class UnitOfWork {
  roundTrips = 0;
  readonly receipts: ReceiptRow[] = [];
  readonly events: EventRow[] = [];
  readonly messages: string[] = [];
  readonly afterCommit: (() => void)[] = [];
  answer: StoredAnswer | undefined;
  /** For an act that waits for no change of members: its receipts are written only while the caller has these rights. */
  onlyWhile: AdmittedCaller | undefined;
  /** Once finished: the destinations that the events are to be delivered to. */
  reached: readonly string[] = [];
  #writes: Statement[] = [];
  /** BEGIN and the settings of the scope, until they have travelled in front of the first statement. */
  #begin: Statement[];

  constructor(
    readonly scope: Scope,
    private readonly client: PoolClient,
    begin: Statement[],
  ) {
    this.#begin = begin;
  }

  /** A whole transaction in one round trip, for statements that need nothing of each other. */
  async whole(statements: Statement[]): Promise<unknown[][]> {
    try {
      const results = await this.batch([...statements, { text: 'commit' }]);
      return results.slice(0, -1);
    } catch (error) {
      // Fails only with the connection, which the pool then drops.
      await this.rollback().catch(() => undefined);
      throw error;
    }
  }

  /** Widens what row-level security shows to the whole workspace, for acts that concern every team (a kill). */
  async seeWholeWorkspace(): Promise<void> {
    await this.batch([scopeSettings({ ...this.scope, teamIds: 'all' })]);
  }

  /** One statement, one round trip. Rows come with camelCase keys. */
  async query<T>(text: string, values: readonly unknown[] = []): Promise<T[]> {
    const [rows] = await this.batch([{ text, values }]);
    return rows as T[];
  }

  /**
   * A statement whose result nobody waits for: it travels in front of the next batch, at the latest with the COMMIT,
   * and so costs no round trip of its own.
   */
  write(text: string, values: readonly unknown[]): void {
    this.#writes.push({ text, values });
  }

  /** Several statements in one round trip, in order. A failed one fails the batch and the transaction. */
  async batch(statements: Statement[]): Promise<unknown[][]> {
    const before = [...this.#begin, ...this.#writes];
    this.#begin = [];
    this.#writes = [];
    const results = await this.send([...before, ...statements]);
    return results.slice(before.length);
  }

  private send(statements: Statement[]): Promise<unknown[][]> {
    this.roundTrips++;
    return this.client.query(new Batch(statements, ROW_TYPES)).rows;
  }

  /** Undoes the work but keeps the transaction, so that the answer of a failed request can still be stored. */
  async undoWork(): Promise<void> {
    this.#writes = [];
    this.receipts.length = this.events.length = this.messages.length = this.afterCommit.length = 0;
    await this.batch([{ text: 'rollback to savepoint work' }]);
  }

  /** Writes what the act leaves behind and commits, in one round trip; in none where nothing was done. */
  async finish(): Promise<void> {
    const context = RequestContext.current;
    if (!context?.notesPosition) return void (await this.leaveBehind([{ text: 'commit' }]));
    const results = await this.leaveBehind([{ text: 'commit' }, COMMITTED]);
    if (results) context.position = positionIn(results.at(-1) as WalPosition[]);
  }

  /** The same transaction in another workspace, until {@link comeBackFrom} it. */
  async enter(scope: Scope): Promise<UnitOfWork> {
    await this.batch([scopeSettings(scope)]);
    return new UnitOfWork(scope, this.client, []);
  }

  /** Writes what was done in the other workspace, and goes on in this one. */
  async comeBackFrom(other: UnitOfWork): Promise<void> {
    await other.leaveBehind([scopeSettings(this.scope)]);
    this.roundTrips += other.roundTrips;
    this.afterCommit.push(...other.afterCommit);
  }

  /** Everything that was collected, and these statements behind it; answers the results, unless nothing was done. */
  private async leaveBehind(last: Statement[]): Promise<unknown[][] | undefined> {
    const act: Record<string, unknown> = { workspaceId: this.scope.workspaceId };
    if (this.messages.length > 0) act['messages'] = this.messages;
    if (this.answer) act['answer'] = this.answer;
    if (this.receipts.length > 0) {
      act['receipts'] = this.receipts;
      if (this.onlyWhile) act['caller'] = this.onlyWhile;
    }
    if (this.events.length > 0) act['events'] = this.events;
    if (Object.keys(act).length === 1) {
      const isUntouched = this.#begin.length > 0 && this.#writes.length === 0;
      return isUntouched ? undefined : this.batch(last);
    }
    const results = await this.batch([
      { text: 'select app.finish($1::jsonb) as reached', values: [JSON.stringify(act)] },
      ...last,
    ]);
    this.reached = (results as { reached: string[] }[][])[0]![0]!.reached;
    return results;
  }

  async rollback(): Promise<void> {
    if (this.#begin.length === 0) await this.send([{ text: 'rollback' }]);
  }
}

export function scopeSettings(scope: Scope): Statement {
  const values = [scope.workspaceId, scope.teamIds === 'all' ? '*' : scope.teamIds.join(',')];
  const settings = `set_config('app.workspace_id', $1, true), set_config('app.team_ids', $2, true)`;
  const traceparent = RequestContext.current?.trace?.traceparent;
  if (traceparent === undefined) return { text: `select ${settings}`, values };
  return {
    // The work that this transaction enqueues belongs to its trace: the default of work_items.traceparent.
    text: `select ${settings}, set_config('app.traceparent', $3, true)`,
    values: [...values, traceparent],
  };
}
