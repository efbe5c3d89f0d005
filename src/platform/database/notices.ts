import { EventEmitter } from 'node:events';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import pg from 'pg';
import { APP_ROLE } from './data-source.js';
import { DatabaseAddress } from './database-address.js';
import { Db } from './db.js';

/** Something that other processes want to know at once; what it says stands in the database as well. */
export interface Notice {
  topic: 'guardian' | 'approval';
  workspaceId: string;
  id: string;
}

const RECONNECT_MS = 500;

/**
 * Short messages between processes through LISTEN and NOTIFY. A notice may be lost with the connection, so it only
 * ever shortens a wait: whoever listens also looks for itself from time to time.
 */
@Injectable()
export class Notices implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #emitter = new EventEmitter().setMaxListeners(0);
  #client: pg.Client | undefined;
  #closing = false;

  constructor(
    private readonly address: DatabaseAddress,
    private readonly db: Db,
    private readonly logger: PinoLogger,
  ) {}

  /** Sends a notice with the COMMIT of the open transaction. */
  send(topic: Notice['topic'], id: string): void {
    const { unit } = this.db;
    unit.notices.push(JSON.stringify({ topic, workspaceId: unit.scope.workspaceId, id } satisfies Notice));
  }

  /** Calls `listener` for each notice of this topic; answers how to stop. */
  on(topic: Notice['topic'], listener: (notice: Notice) => void): () => void {
    this.#emitter.on(topic, listener);
    return () => this.#emitter.off(topic, listener);
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.connect();
  }

  async onApplicationShutdown(): Promise<void> {
    this.#closing = true;
    await this.#client?.end().catch(() => undefined);
  }

  private async connect(): Promise<void> {
    if (this.#closing) return;
    const client = new pg.Client({
      connectionString: this.address.url,
      application_name: 'consigliere notices',
      options: `-c role=${APP_ROLE}`,
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
