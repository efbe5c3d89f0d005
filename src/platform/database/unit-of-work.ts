import { isDeepStrictEqual } from 'node:util';
import type { PoolClient } from 'pg';
import { RequestContext } from '../kernel/request-context.js';
import { Batch, type Statement } from './batch.js';
import { ROW_TYPES } from './data-source.js';
import { type EntityClass, insertOf, updateOf } from './table.js';
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

/** An update that has not travelled yet. */
interface PendingUpdate {
  key: object;
  changes: object;
  statement: Statement;
}

/**
 * One transaction on one connection. Statements of a batch travel in one message, as do batches that are asked for before any of
 * them is awaited (`Promise.all`), the first with the BEGIN in front of it, so a mutation takes two or three round trips: locks
 * and reads, and finish. What the act leaves behind (receipts, events, messages, the stored answer) is collected here
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
  /** By entity, the last of the writes that are still to travel, where a further change of the same rows can go with it. */
  readonly #updates = new Map<EntityClass<object>, PendingUpdate>();
  /** The message that is being put together, and its rows. */
  #message: { statements: Statement[]; rows: Promise<unknown[][]> } | undefined;
  /** Nothing more may travel: the COMMIT or the ROLLBACK has, or goes with what was asked for. */
  #isOver = false;
  #isLed = false;
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
  whole(statements: Statement[]): Promise<unknown[][]> {
    return this.together(() => this.batch(statements));
  }

  /** {@link whole}, for statements that `ask` asks for before it awaits any of them. */
  async together<T>(ask: () => Promise<T>): Promise<T> {
    const asked = ask();
    const committed = this.batch([{ text: 'commit' }]);
    this.#isOver = true;
    try {
      const [result] = await Promise.all([asked, committed]);
      return result;
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

  /** Statements that nothing happens without: they travel with the BEGIN, and what comes with them fails if one does. */
  lead(statements: Statement[]): void {
    this.#begin.push(...statements);
    this.#isLed = true;
  }

  /** Asks what leads, where nothing has travelled yet; for an act that ends before it needs the database. */
  async askFirst(): Promise<void> {
    this.#writes = [];
    this.#updates.clear();
    if (this.#begin.length > 0) await this.batch([]);
  }

  /**
   * A statement whose result nobody waits for: it travels in front of the next batch, at the latest with the COMMIT,
   * and so costs no round trip of its own.
   */
  write(text: string, values: readonly unknown[]): void {
    this.#updates.clear();
    this.#writes.push({ text, values });
  }

  /** {@link write} for a row of this entity. */
  insert<T extends object>(entity: EntityClass<T>, row: T): void {
    this.#updates.delete(entity);
    this.#writes.push(insertOf(entity, row));
  }

  /** {@link write} for the rows that equal `key`. Changes of the same rows become one, unless something stands between them. */
  update<T extends object>(entity: EntityClass<T>, key: Partial<T>, changes: Partial<T>): void {
    const last = this.#updates.get(entity);
    const isFurther = last !== undefined && isDeepStrictEqual(last.key, key);
    const all = { ...(isFurther && last.changes), ...definedOf(changes) };
    const statement = updateOf(entity, key, all);
    if (isFurther) Object.assign(last.statement, statement);
    else this.#writes.push(statement);
    const movesRows = Object.keys(key).some((name) => name in all);
    if (movesRows) this.#updates.delete(entity);
    else this.#updates.set(entity, { key, changes: all, statement: isFurther ? last.statement : statement });
  }

  /** Several statements in one round trip, in order. A failed one fails the batch and the transaction. */
  async batch(statements: Statement[]): Promise<unknown[][]> {
    if (this.#isOver) throw new Error('this transaction takes no more statements');
    const message = (this.#message ??= this.nextMessage());
    message.statements.push(...this.#begin, ...this.#writes);
    this.#begin = [];
    this.#writes = [];
    this.#updates.clear();
    const from = message.statements.length;
    const to = message.statements.push(...statements);
    return (await message.rows).slice(from, to);
  }

  private nextMessage() {
    const statements: Statement[] = [];
    const rows = Promise.resolve().then(() => {
      this.#message = undefined;
      return this.send(statements);
    });
    return { statements, rows };
  }

  private send(statements: Statement[]): Promise<unknown[][]> {
    this.roundTrips++;
    return this.client.query(new Batch(statements, ROW_TYPES)).rows;
  }

  /** Undoes the work but keeps the transaction, so that the answer of a failed request can still be stored. */
  async undoWork(): Promise<void> {
    this.#writes = [];
    this.#updates.clear();
    this.receipts.length = this.events.length = this.messages.length = this.afterCommit.length = 0;
    await this.batch([{ text: 'rollback to savepoint work' }]);
  }

  /** Writes what the act leaves behind and commits, in one round trip; in none where nothing was done. */
  async finish(): Promise<void> {
    const context = RequestContext.current;
    const committed = this.leaveBehind([{ text: 'commit' }, ...(context?.notesPosition ? [COMMITTED] : [])]);
    this.#isOver = true;
    const results = await committed;
    if (results && context?.notesPosition) context.position = positionIn(results.at(-1) as WalPosition[]);
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
      const isUntouched = this.#begin.length > 0 && this.#writes.length === 0 && !this.#isLed;
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
    this.#isOver = true;
    if (this.#begin.length === 0) await this.send([{ text: 'rollback' }]);
  }
}

function definedOf(changes: object): object {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
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
