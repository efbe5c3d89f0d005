import { EventEmitter } from 'node:events';
import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import type pg from 'pg';
import { AS_APP_ROLE } from './data-source.js';
import { DatabaseAddress } from './database-address.js';
import { Batches } from '../kernel/batches.js';
import { Db } from './db.js';
import { backendOf, openConnection } from './sessions.js';

/** Something that other processes want to know at once; what it says stands in the database as well. */
export interface Message {
  /** Each feature declares its own. */
  topic: string;
  workspaceId: string;
  id: string;
}

const CHANNEL_NAME = 'consigliere channel';
const RECONNECT_MS = 500;
/** Messages of this long go out in one call. */
const GATHER_MS = 2;

/**
 * Short messages between processes through LISTEN and NOTIFY. A message may be lost with the connection, so it only
 * ever shortens a wait: subscribers also poll from time to time.
 */
@Injectable()
export class Channel implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown {
  readonly #subscribers = new EventEmitter().setMaxListeners(0);
  #client: pg.Client | undefined;
  /** The server's process of the connection, as its own views name it; a pooler tells the driver another number. */
  #backend: string | undefined;
  #connecting = false;
  #closing = false;
  readonly #published: Batches<Message>;

  constructor(
    private readonly address: DatabaseAddress,
    private readonly db: Db,
    private readonly logger: PinoLogger,
  ) {
    this.#published = new Batches((messages) => this.notify(messages), GATHER_MS);
  }

  /** Publishes with the COMMIT of the open transaction. */
  publish(topic: string, id: string): void {
    const { unit } = this.db;
    unit.messages.push(JSON.stringify({ topic, workspaceId: unit.scope.workspaceId, id } satisfies Message));
  }

  /**
   * Publishes what has committed already. A NOTIFY within a transaction makes its COMMIT wait for every other that
   * notifies; these travel apart, many in one call.
   */
  publishNow(...messages: Message[]): void {
    this.#published.add(...messages);
  }

  /** Calls `listener` for each message of this topic; answers how to stop. */
  subscribe(topic: string, listener: (message: Message) => void): () => void {
    this.#subscribers.on(topic, listener);
    return () => this.#subscribers.off(topic, listener);
  }

  /** Whether another process uses the database: each of them has one connection such as this. */
  async hasPeers(): Promise<boolean> {
    // Until it knows its own connection, that one looks like another process's.
    if (this.#connecting) return false;
    const [row] = await this.db.system<{ found: boolean }>(
      `select exists (
         select from pg_stat_activity
         where datname = current_database() and application_name = $1 and pid is distinct from $2::integer
       ) as found`,
      [CHANNEL_NAME, this.#backend ?? null],
    );
    return row!.found;
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.connect();
  }

  /** While the database can still be reached. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.#published.drained();
  }

  async onApplicationShutdown(): Promise<void> {
    this.#closing = true;
    await this.#client?.end().catch(() => undefined);
  }

  private async notify(messages: readonly Message[]): Promise<void> {
    const texts = [...new Set(messages.map((message) => JSON.stringify(message)))];
    try {
      await this.db.system(`select pg_notify('consigliere', message) from unnest($1::text[]) message`, [
        texts,
      ]);
    } catch (error) {
      this.logger.warn(
        { err: error },
        'a message could not be published; subscribers will find the change with their next sweep',
      );
    }
  }

  private async connect(): Promise<void> {
    if (this.#closing) return;
    this.#connecting = true;
    const again = () => setTimeout(() => void this.connect(), RECONNECT_MS).unref();
    let client: pg.Client | undefined;
    try {
      client = await openConnection(this.address.loginUrl, CHANNEL_NAME, { settings: AS_APP_ROLE });
      this.#client = client;
      client.on('notification', ({ payload }) => this.receive(payload));
      client.once('end', again);
      this.#backend = await backendOf(client);
      await client.query('listen consigliere');
      // It may have been told to end meanwhile.
      if (this.#closing) await client.end();
    } catch (error) {
      this.logger.warn({ err: error }, 'messages of other processes cannot be received; trying again');
      if (client) await client.end().catch(() => undefined);
      else again();
    } finally {
      this.#connecting = false;
    }
  }

  /** Anyone with a connection to the database can notify, so what comes may be anything, and must end nothing. */
  private receive(payload: string | undefined): void {
    try {
      const { topic, workspaceId, id } = JSON.parse(payload ?? '') as Partial<Message>;
      if (typeof topic !== 'string' || typeof workspaceId !== 'string' || typeof id !== 'string') {
        throw new Error('a notification must have a topic, a workspaceId and an id');
      }
      // An emitter throws an 'error' that nobody listens to; no topic of ours has that name.
      if (topic !== 'error') this.#subscribers.emit(topic, { topic, workspaceId, id });
    } catch (error) {
      this.logger.warn({ err: error }, 'a malformed notification is ignored');
    }
  }
}
