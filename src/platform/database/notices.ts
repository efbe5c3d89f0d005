import { EventEmitter } from 'node:events';
import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import pg from 'pg';
import { AS_APP_ROLE } from './data-source.js';
import { DatabaseAddress } from './database-address.js';
import { Batches } from '../kernel/batches.js';
import { Db } from './db.js';

/** Something that other processes want to know at once; what it says stands in the database as well. */
export interface Notice {
  topic: 'guardian' | 'approval' | 'delivery';
  workspaceId: string;
  id: string;
}

const RECONNECT_MS = 500;
/** Announcements of this long go out in one call. */
const GATHER_MS = 2;

/**
 * Short messages between processes through LISTEN and NOTIFY. A notice may be lost with the connection, so it only
 * ever shortens a wait: whoever listens also looks for itself from time to time.
 */
@Injectable()
export class Notices implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown {
  readonly #emitter = new EventEmitter().setMaxListeners(0);
  #client: pg.Client | undefined;
  #closing = false;
  readonly #announcements: Batches<Notice>;

  constructor(
    private readonly address: DatabaseAddress,
    private readonly db: Db,
    private readonly logger: PinoLogger,
  ) {
    this.#announcements = new Batches((notices) => this.tell(notices), GATHER_MS);
  }

  /** Sends a notice with the COMMIT of the open transaction. */
  send(topic: Notice['topic'], id: string): void {
    const { unit } = this.db;
    unit.notices.push(JSON.stringify({ topic, workspaceId: unit.scope.workspaceId, id } satisfies Notice));
  }

  /**
   * Tells of what has committed already. A NOTIFY within a transaction makes its COMMIT wait for every other that
   * notifies; these travel apart, many in one call.
   */
  announce(...notices: Notice[]): void {
    this.#announcements.add(...notices);
  }

  /** Calls `listener` for each notice of this topic; answers how to stop. */
  on(topic: Notice['topic'], listener: (notice: Notice) => void): () => void {
    this.#emitter.on(topic, listener);
    return () => this.#emitter.off(topic, listener);
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.connect();
  }

  /** While the database can still be reached. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.#announcements.drained();
  }

  async onApplicationShutdown(): Promise<void> {
    this.#closing = true;
    await this.#client?.end().catch(() => undefined);
  }

  private async tell(notices: readonly Notice[]): Promise<void> {
    const texts = [...new Set(notices.map((notice) => JSON.stringify(notice)))];
    try {
      await this.db.system(`select pg_notify('consigliere', notice) from unnest($1::text[]) notice`, [texts]);
    } catch (error) {
      this.logger.warn({ err: error }, 'a notice could not be sent; who waits for it will look for itself');
    }
  }

  private async connect(): Promise<void> {
    if (this.#closing) return;
    const client = new pg.Client({
      connectionString: this.address.loginUrl,
      application_name: 'consigliere notices',
      options: AS_APP_ROLE,
      keepAlive: true,
    });
    let ended = false;
    const again = () => {
      if (ended || this.#closing) return;
      ended = true;
      client.removeAllListeners('notification');
      setTimeout(() => void this.connect(), RECONNECT_MS).unref();
    };
    client.on('error', again);
    client.on('end', again);
    client.on('notification', ({ payload }) => {
      const notice = JSON.parse(payload ?? '{}') as Notice;
      this.#emitter.emit(notice.topic, notice);
    });
    try {
      await client.connect();
      await client.query('listen consigliere');
      this.#client = client;
    } catch (error) {
      this.logger.warn({ err: error }, 'notices of other processes cannot be heard; trying again');
      again();
    }
  }
}
