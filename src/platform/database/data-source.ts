import pg from 'pg';
import type { DataSourceOptions } from 'typeorm';
import { applySettings, CONNECT_TIMEOUT_MS } from './sessions.js';
import { SnakeNaming } from './snake-naming.js';

/** The role the program works as: it owns nothing and cannot bypass row-level security. */
export const APP_ROLE = 'consigliere_app';

/** The setting of a session that works as that role. */
export const AS_APP_ROLE = { role: APP_ROLE };

/**
 * Every statement has an index to go by. What the planner knows of a new workspace it knows late: until the first ANALYZE
 * it takes a table for small, reads all of a workspace's rows and sorts them: the packets of `/context` among 13,000 took
 * 317 ms where the page by its index takes one. Without these ways it goes by the index whose order is the list's, whatever
 * it knows. So the values decide nothing either, and a statement is planned once a connection: planning the context anew
 * each time took 1.4 of its 3.9 ms.
 */
const BY_INDEX = {
  enable_bitmapscan: 'off',
  enable_seqscan: 'off',
  jit: 'off',
  plan_cache_mode: 'force_generic_plan',
};

/**
 * How long a transaction may stand still between two statements, in milliseconds. No network call belongs inside one,
 * so only a process that does not run any more (stopped, swapped out) comes to it; what it holds, a kill waits for.
 */
const IDLE_IN_TRANSACTION_MS = 2_000;

/**
 * For what one process can keep busy: its own thread is full at some 1,300 mutations a second, each of two round trips.
 * More only compete: on two cores 16 connections took the server a fifth more time for each hand-in than 8.
 */
export const CONNECTIONS = 8;

/** Beside them, for requests that only stop work: a kill switch is for when everything else hangs. */
const RESERVED_CONNECTIONS = 2;

/** No statement of ours takes seconds: one that does waits for a lock, or reads what it should not, and others wait for it. */
const STATEMENT_TIMEOUT_MS = 15_000;

/** Of each connection that serves requests. */
export const SESSION = {
  ...AS_APP_ROLE,
  ...BY_INDEX,
  idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_MS),
  statement_timeout: String(STATEMENT_TIMEOUT_MS),
};

/** For what only stops work: it may have to wait for all that others have locked. */
export const LONG_STATEMENT_TIMEOUT = `set local statement_timeout = '60s'`;

const { builtins, getTypeParser } = pg.types;

/**
 * Values come as the wire has them. Sequence numbers and amounts fit a double here (bigint below 2^53,
 * numeric(18, 4)); times are Unix milliseconds.
 */
const asDate = getTypeParser(builtins.TIMESTAMPTZ) as (text: string) => Date | number;
const numbers = new Map<number, (text: string) => number>([
  [builtins.INT8, Number],
  [builtins.NUMERIC, Number],
  // Infinity is a number already.
  [builtins.TIMESTAMPTZ, (text) => Number(asDate(text))],
]);

export const ROW_TYPES = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && numbers.get(oid)) || getTypeParser(oid, format as 'text'),
};

/** TypeORM's options for the program's own connections. */
export function appDataSource(url: string): Extract<DataSourceOptions, { type: 'postgres' }> {
  return {
    type: 'postgres',
    url,
    namingStrategy: new SnakeNaming(),
    installExtensions: false,
    synchronize: false,
    migrationsRun: false,
    logging: false,
    applicationName: 'consigliere',
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    poolSize: CONNECTIONS + RESERVED_CONNECTIONS,
    extra: {
      onConnect: (client: pg.PoolClient) => applySettings(client, SESSION),
      types: ROW_TYPES,
    },
  };
}
