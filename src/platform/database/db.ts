import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { DataSource, type QueryRunner } from 'typeorm';
import { RequestContext, traced } from '../kernel/request-context.js';
import { Unavailable, WorkspaceReadOnly } from '../kernel/errors.js';
import { ConnectionGate } from './connection-gate.js';
import { CONNECTIONS, LONG_STATEMENT_TIMEOUT } from './data-source.js';
import { CONNECT_TIMEOUT_MS } from './sessions.js';
import { isCancelled, isDeadlock, isOutage, isReadOnlyWorkspace } from './database-errors.js';
import type { Statement } from './batch.js';
import { Replica } from './replica.js';
import { type EntityClass, selectOf } from './table.js';
import { type Scope, scopeSettings, UnitOfWork } from './unit-of-work.js';

/** Long enough for the transaction that was let go first to wake up, on a busy machine too. */
const AFTER_DEADLOCK_MS = 50;

const OF_DATABASE = { 'db.system.name': 'postgresql' };

const ambient = new AsyncLocalStorage<UnitOfWork>();

/**
 * The one door to the database. Every statement runs in a transaction that carries the caller's workspace and teams,
 * so row-level security holds whatever the statement forgot. No network call belongs inside a transaction.
 */
@Injectable()
export class Db {
  readonly #gate = new ConnectionGate(CONNECTIONS, CONNECT_TIMEOUT_MS);

  constructor(
    private readonly dataSource: DataSource,
    private readonly replica?: Replica,
  ) {}

  /** How many of this process's connections are in use and free, and how many statements wait for one. */
  get connections(): { busy: number; free: number; waiting: number } {
    return this.#gate.occupancy;
  }

  /**
   * Runs `work` in a transaction, or in the one that is already open for this scope's workspace. With `opening`,
   * these statements travel with the BEGIN and their rows are handed to `work`.
   * @throws Unavailable when the database cannot be reached, or cancels a statement that takes too long
   * @throws WorkspaceReadOnly when a person changes a workspace that is going to be deleted
   */
  async transaction<T>(
    scope: Scope,
    work: (unit: UnitOfWork, opened: unknown[][]) => Promise<T>,
    opening: Statement[] = [],
  ): Promise<T> {
    const current = ambient.getStore();
    if (current) {
      if (current.scope.workspaceId !== scope.workspaceId) {
        throw new Error('a transaction of one workspace cannot act in another');
      }
      return work(current, opening.length > 0 ? await current.batch(opening) : []);
    }
    return againAfterDeadlock(() => this.transactionOfItsOwn(scope, work, opening));
  }

  /**
   * Runs `work` in another workspace, in the open transaction: what it does there, receipts and all, commits with the rest
   * or not at all. Row-level security shows it that workspace only.
   */
  async inWorkspace<T>(scope: Scope, work: () => Promise<T>): Promise<T> {
    const { unit } = this;
    const inner = await unit.enter(scope);
    const result = await ambient.run(inner, work);
    await unit.comeBackFrom(inner);
    return result;
  }

  /** One statement of the open transaction; outside of one, use {@link read}. */
  query<T>(text: string, values: readonly unknown[] = []): Promise<T[]> {
    return this.unit.query<T>(text, values);
  }

  /** Adds a row of this entity to the open transaction; it is written with the next statement. */
  insert<T extends object>(entity: EntityClass<T>, row: T): void {
    this.unit.insert(entity, row);
  }

  /** Sets what `changes` names in the rows that equal `key`; written with the next statement. */
  update<T extends object>(entity: EntityClass<T>, key: Partial<T>, changes: Partial<T>): void {
    this.unit.update(entity, key, changes);
  }

  /** The row of this entity that equals `key`, if the scope may see it. */
  async findOne<T extends object>(
    scope: Scope,
    entity: EntityClass<T>,
    key: Partial<T>,
  ): Promise<T | undefined> {
    const { text, values } = selectOf(entity, key);
    const [row] = await this.read<T>(scope, text, values);
    return row;
  }

  /** The row of this entity that equals `key`, locked until the open transaction ends. */
  async lockOne<T extends object>(
    entity: EntityClass<T>,
    key: Partial<T>,
    lock: 'for update' | 'for no key update' | 'for share',
  ): Promise<T | undefined> {
    const { text, values } = selectOf(entity, key, lock);
    const [row] = await this.query<T>(text, values);
    return row;
  }

  /** A statement of the open transaction whose result nobody waits for; it costs no round trip of its own. */
  write(text: string, values: readonly unknown[]): void {
    this.unit.write(text, values);
  }

  /** One read in a transaction of its own, in one round trip; joins the open transaction if there is one. */
  async read<T>(scope: Scope, text: string, values: readonly unknown[] = []): Promise<T[]> {
    const [rows] = await this.readAll(scope, [{ text, values }]);
    return rows as T[];
  }

  /**
   * Several reads of one moment over one connection, in one round trip. Where the request allows it a replica answers; once
   * the primary was asked, it answers the rest of the request as well, which must not go back in time.
   */
  async readAll(scope: Scope, statements: Statement[]): Promise<unknown[][]> {
    const current = ambient.getStore();
    if (current) return current.batch(statements);
    const context = RequestContext.current;
    if (this.replica && context?.readsAfter !== undefined) {
      const rows = await traced('replica', OF_DATABASE, () => this.replica!.read(scope, statements, context));
      if (rows) return rows;
    }
    return this.onConnection(scope, (unit) => unit.whole(statements), 'begin read only');
  }

  /** {@link readAll} of reads that are asked for before any of them is awaited (`Promise.all`). */
  readTogether<T>(scope: Scope, ask: () => Promise<T>): Promise<T> {
    if (ambient.getStore()) return ask();
    return this.onConnection(scope, (unit) => unit.together(() => ambient.run(unit, ask)), 'begin read only');
  }

  /** Several writes that need nothing of each other, in a transaction of their own and one round trip. */
  async writeAll(scope: Scope, statements: Statement[]): Promise<unknown[][]> {
    return againAfterDeadlock(() => this.onConnection(scope, (unit) => unit.whole(statements)));
  }

  /** The open transaction. */
  get unit(): UnitOfWork {
    const unit = ambient.getStore();
    if (!unit) throw new Error('this needs an open transaction');
    return unit;
  }

  /** One of our functions that answer across workspaces, or a statement on a table that belongs to none. */
  async system<T>(text: string, values: readonly unknown[] = []): Promise<T[]> {
    const [rows] = await this.systemAll([{ text, values }]);
    return rows as T[];
  }

  /** Several of {@link system} in one round trip. */
  systemAll(statements: Statement[]): Promise<unknown[][]> {
    return this.writeAll({ workspaceId: '', teamIds: [] }, statements);
  }

  private transactionOfItsOwn<T>(
    scope: Scope,
    work: (unit: UnitOfWork, opened: unknown[][]) => Promise<T>,
    opening: Statement[],
  ): Promise<T> {
    const context = RequestContext.current;
    if (context) context.readsAfter = undefined;
    return this.onConnection(scope, async (unit) => {
      try {
        if (isUrgent()) unit.write(LONG_STATEMENT_TIMEOUT, []);
        const opened = opening.length > 0 ? await unit.batch(opening) : [];
        const result = await ambient.run(unit, () => work(unit, opened));
        await unit.finish();
        for (const act of unit.afterCommit) act();
        return result;
      } catch (error) {
        // Fails only with the connection, which the pool then drops; the first error is the one that tells why.
        await unit.rollback().catch(() => undefined);
        throw error;
      }
    });
  }

  private onConnection<T>(
    scope: Scope,
    work: (unit: UnitOfWork) => Promise<T>,
    begin: 'begin' | 'begin read only' = 'begin',
  ): Promise<T> {
    return traced('transaction', OF_DATABASE, () => this.onOwnConnection(scope, work, begin));
  }

  private async onOwnConnection<T>(
    scope: Scope,
    work: (unit: UnitOfWork) => Promise<T>,
    begin: string,
  ): Promise<T> {
    const passes = isUrgent();
    if (!passes) await this.#gate.enter();
    const runner = this.dataSource.createQueryRunner();
    try {
      const unit = new UnitOfWork(scope, await connected(runner), [{ text: begin }, scopeSettings(scope)]);
      try {
        return await work(unit);
      } finally {
        RequestContext.current?.addRoundTrips(unit.roundTrips);
      }
    } catch (error) {
      if (isOutage(error) || isCancelled(error)) throw new Unavailable({ cause: error });
      throw isReadOnlyWorkspace(error) ? new WorkspaceReadOnly({ cause: error }) : error;
    } finally {
      await runner.release().finally(() => passes || this.#gate.leave());
    }
  }
}

/**
 * The server ended it for another that waited for it in turn; nothing of it is left, so it is done again, once. Done again
 * at once it could have its locks before the other has woken up, and both would wait for each other once more.
 */
async function againAfterDeadlock<T>(transaction: () => Promise<T>): Promise<T> {
  try {
    return await transaction();
  } catch (error) {
    if (!isDeadlock(error)) throw error;
    await pause(AFTER_DEADLOCK_MS);
    return transaction();
  }
}

/** Acts that only stop work use a reserved connection, ahead of the queue. */
function isUrgent(): boolean {
  return RequestContext.current?.urgent ?? false;
}

/** Any connection failure (a limit, a refusal, the network) is retryable. */
async function connected(runner: QueryRunner): Promise<PoolClient> {
  try {
    return (await runner.connect()) as PoolClient;
  } catch (error) {
    throw new Unavailable({ cause: error });
  }
}
