import { Writable } from 'node:stream';
import { ScheduleModule } from '@nestjs/schedule';
import { Test, type TestingModule } from '@nestjs/testing';
import pg from 'pg';
import { ConfigModule } from '../../src/platform/config/config.module.js';
import { loadConfig } from '../../src/platform/config/config.js';
import { Channel } from '../../src/platform/database/channel.js';
import { DatabaseAddress } from '../../src/platform/database/database-address.js';
import { DatabaseModule } from '../../src/platform/database/database.module.js';
import { Db } from '../../src/platform/database/db.js';
import { loginUrl } from '../../src/platform/database/login-role.js';
import { loggingModule } from '../../src/platform/observability/logging.js';
import { secretsKey } from '../../src/platform/secrets/secret-box.js';
import { Claims } from '../../src/platform/work/claims.repository.js';
import { Work, WORK_TOPIC } from '../../src/platform/work/work.js';
import type { WorkItem, WorkKind } from '../../src/platform/work/work-item.js';
import { MetricsModule } from '../../src/platform/observability/metrics.module.js';
import { WorkModule } from '../../src/platform/work/work.module.js';
import { eventually } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

export interface ItemRow {
  id: string;
  queue: string;
  claimed: boolean;
  attempt: number;
  failures: number;
  crashes: number;
  last_error: { code: string; message: string } | null;
  isParked: boolean;
}

/** How an attempt ended, as it was written: with how long the item waits, in milliseconds. */
interface End {
  id: string;
  failures: number;
  wait_ms: number;
}

/**
 * Notes how each attempt ended that did not complete its item, and what has been done: rows of the test, in a schema of
 * its own.
 */
const NOTES = `
  create schema notes;
  create table notes.ends (n serial, id text, failures int, wait_ms float8);
  create function notes.note_end() returns trigger language plpgsql security definer as $$
  begin
    insert into notes.ends (id, failures, wait_ms) values (new.id, new.failures, case when new.due_at = 'infinity'
      then 'infinity' else extract(epoch from new.due_at - clock_timestamp()) * 1000 end);
    return null;
  end $$;
  create trigger note_end after update on public.work_items for each row when (old.claimed and not new.claimed)
    execute function notes.note_end();
  create table notes.results (n serial, id text, attempt int);
  grant usage on schema notes to consigliere_app;
  grant insert, select on notes.results to consigliere_app;
  grant usage on sequence notes.results_n_seq to consigliere_app`;

/** What was logged; the logger is one for all that a test file starts. */
const messages: string[] = [];
const sink = new Writable({
  write(chunk: Buffer, _encoding, done) {
    for (const line of chunk.toString().split('\n')) if (line) messages.push(JSON.parse(line).msg);
    done();
  },
});

/** A database with work in it, and processes that do it: each is the platform's own modules with connections of its own. */
export class WorkDesk {
  readonly #processes: WorkProcess[] = [];

  private constructor(
    readonly database: TestDatabase,
    /** Stays connected whatever happens to the others. */
    private readonly owner: pg.Client,
  ) {}

  static async open(): Promise<WorkDesk> {
    const database = await createTestDatabase();
    const owner = new pg.Client({ connectionString: database.url });
    await owner.connect();
    await owner.query(NOTES);
    return new WorkDesk(database, owner);
  }

  /** Until this was logged. */
  async logged(message: string): Promise<void> {
    await eventually(async () => messages.includes(message));
  }

  async rows<T = Record<string, unknown>>(sql: string, values: unknown[] = []): Promise<T[]> {
    return (await this.owner.query(sql, values)).rows as T[];
  }

  /** Starts a process that does these kinds of work. */
  async start(...kinds: WorkKind[]): Promise<WorkProcess> {
    const config = loadConfig({
      NODE_ENV: 'test',
      DATABASE_URL: this.database.url,
      SECRETS_KEY: KEY,
      LOG_LEVEL: 'info',
    });
    const address = new DatabaseAddress(
      this.database.url,
      await loginUrl(this.database.url, secretsKey(config)),
    );
    const module = await Test.createTestingModule({
      imports: [
        loggingModule(config, sink),
        ConfigModule.forRoot(config),
        ScheduleModule.forRoot(),
        DatabaseModule.forRoot(address),
        MetricsModule,
        WorkModule,
      ],
    }).compile();
    for (const kind of kinds) module.get(Work).declare(kind);
    await module.init();
    const process = new WorkProcess(module);
    this.#processes.push(process);
    return process;
  }

  /** Enqueues `count` items past every process; nobody is told. */
  async leave(kind: string, queue: string, count = 1): Promise<string[]> {
    const rows = await this.rows<{ id: string }>(
      `insert into work_items (kind, id, workspace_id, queue, due_at)
       select $1, $2 || '-' || n, 'wks_test', $2, now() from generate_series(1, $3) n returning id`,
      [kind, queue, count],
    );
    return rows.map(({ id }) => id);
  }

  items(kind: string): Promise<ItemRow[]> {
    return this.rows<ItemRow>(
      `select id, queue, claimed, attempt::int as attempt, failures, crashes, last_error, due_at = 'infinity' as "isParked"
       from work_items where kind = $1 order by id`,
      [kind],
    );
  }

  /** Lets all waits of this kind, and the leases of those who claimed something of it, be over. */
  async makeDue(kind: string): Promise<void> {
    await this.rows(`update work_items set due_at = now() where kind = $1 and due_at < 'infinity'`, [kind]);
  }

  ends(id: string): Promise<End[]> {
    return this.rows<End>('select id, failures, wait_ms from notes.ends where id = $1 order by n', [id]);
  }

  async results(prefix: string): Promise<string[]> {
    const rows = await this.rows<{ id: string }>('select id from notes.results where id like $1 order by n', [
      `${prefix}%`,
    ]);
    return rows.map(({ id }) => id);
  }

  /** Until nothing of this kind is left. */
  async done(kind: string, seconds?: number): Promise<void> {
    await eventually(
      () => this.items(kind),
      (items) => items.length === 0,
      seconds,
    );
  }

  /** Nobody gets a connection while `act` runs, and those that were there are gone. */
  async outage(act: () => Promise<void>): Promise<void> {
    const name = new URL(this.database.url).pathname.slice(1);
    const admin = new URL(this.database.url);
    admin.pathname = '/postgres';
    const elsewhere = new pg.Client({ connectionString: admin.href });
    await elsewhere.connect();
    try {
      await elsewhere.query(`alter database ${name} allow_connections false`);
      await elsewhere.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = $1 and application_name like 'consigliere%'`,
        [name],
      );
      await act();
    } finally {
      await elsewhere.query(`alter database ${name} allow_connections true`);
      await elsewhere.end();
    }
  }

  /** Ends what the test has started, and forgets its work. */
  async clear(): Promise<void> {
    await Promise.all(this.#processes.splice(0).map((process) => process.close()));
    messages.length = 0;
    await this.rows('truncate work_items, work_breakers, notes.ends, notes.results');
  }

  async close(): Promise<void> {
    await this.clear();
    await this.owner.end();
    await this.database.drop();
  }
}

const KEY = Buffer.alloc(32, 7).toString('base64');

/** One process of the service, as far as work goes. */
export class WorkProcess {
  #closing: Promise<void> | undefined;

  constructor(private readonly module: TestingModule) {}

  get work(): Work {
    return this.module.get(Work);
  }

  get db(): Db {
    return this.module.get(Db);
  }

  /** Claims as another process does. */
  anotherClaimer(): Claims {
    return new Claims(this.db);
  }

  /** An act of a workspace. */
  transaction(act: (work: Work) => unknown): Promise<void> {
    return this.db.transaction({ workspaceId: 'wks_test', teamIds: 'all' }, async () => {
      await act(this.work);
    });
  }

  /** Tells every process that this queue has something due. */
  notify(kind: string, queue: string): void {
    this.module
      .get(Channel)
      .publishNow({ topic: WORK_TOPIC, workspaceId: 'wks_test', id: `${kind} ${queue}` });
  }

  /** Writes what came of an item and ends it, in one transaction. */
  async complete(item: WorkItem): Promise<void> {
    await this.work.completeWith(item, [result(item)]);
  }

  close(): Promise<void> {
    this.#closing ??= this.module.close();
    return this.#closing;
  }
}

/** The row that an attempt leaves behind. */
export function result({ id, attempt }: WorkItem) {
  return { text: 'insert into notes.results (id, attempt) values ($1, $2)', values: [id, attempt] };
}
