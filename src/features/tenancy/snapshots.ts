import { Injectable } from '@nestjs/common';
import type pg from 'pg';
import { AS_APP_ROLE, ROW_TYPES } from '../../platform/database/data-source.js';
import { DatabaseAddress } from '../../platform/database/database-address.js';
import { openConnection } from '../../platform/database/sessions.js';
import { Unavailable } from '../../platform/kernel/errors.js';

/** Any number no other use of advisory locks has. */
const LOCK = 9;

/** A reader that takes nothing for so long loses its export, which keeps old rows of the whole database from being cleared. */
const IDLE_MS = 60_000;

const SETTINGS = {
  ...AS_APP_ROLE,
  timezone: 'UTC',
  jit: 'off',
  idle_in_transaction_session_timeout: String(IDLE_MS),
};

/** What a snapshot holds in memory of one table, about. */
const BYTES_AT_ONCE = 1_000_000;
const FIRST_ROWS = 20;
const MOST_ROWS = 1_000;

/**
 * Reads the whole of a workspace as it stood at one moment, on a connection of its own: what takes minutes must not take one
 * of those that serve requests. One at a time over all processes of the service.
 */
@Injectable()
export class Snapshots {
  constructor(private readonly address: DatabaseAddress) {}

  /** Undefined while another is open. @throws Unavailable */
  async open(): Promise<Snapshot | undefined> {
    let snapshot: Snapshot | undefined;
    try {
      const client = await openConnection(this.address.loginUrl, 'consigliere export', {
        settings: SETTINGS,
        types: ROW_TYPES,
      });
      snapshot = new Snapshot(client);
      const { rows } = await client.query<{ free: boolean }>(
        `select pg_try_advisory_lock(hashtextextended('export', ${LOCK})) as free`,
      );
      if (rows[0]!.free) return snapshot;
    } catch (error) {
      await snapshot?.close();
      throw new Unavailable({ cause: error });
    }
    await snapshot.close();
    return undefined;
  }
}

/** One read-only transaction; every statement of it sees the same moment. */
export class Snapshot {
  readonly #lost = new AbortController();

  constructor(private readonly client: pg.Client) {
    client.on('error', (error) => this.#lost.abort(error));
  }

  /** Aborted when the database ends the connection. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /** The moment is that of the first statement after this. */
  async begin(workspaceId: string): Promise<void> {
    await this.client.query('begin isolation level repeatable read read only');
    await this.client.query(
      `select set_config('app.workspace_id', $1, true), set_config('app.team_ids', '*', true)`,
      [workspaceId],
    );
  }

  async rows<T extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<T[]> {
    return (await this.client.query<T>(text, values)).rows;
  }

  /**
   * The rows of a statement, some at a time: as many as make about a megabyte, by those before.
   * @param text has no places for values, since no cursor takes any
   * @param sizeOf how large a row is, in bytes
   */
  async *pages<T extends pg.QueryResultRow>(text: string, sizeOf: (row: T) => number): AsyncGenerator<T[]> {
    await this.client.query(`declare page no scroll cursor for ${text}`);
    for (let wanted = FIRST_ROWS; ;) {
      const { rows } = await this.client.query<T>(`fetch ${wanted} from page`);
      if (rows.length > 0) yield rows;
      if (rows.length < wanted) break;
      const size = rows.reduce((sum, row) => sum + sizeOf(row), 0) / rows.length;
      wanted = Math.min(MOST_ROWS, Math.max(1, Math.floor(BYTES_AT_ONCE / Math.max(1, size))));
    }
    await this.client.query('close page');
  }

  /** Ends the transaction and gives the place free for the next. */
  async close(): Promise<void> {
    await this.client.end().catch(() => undefined);
  }
}
