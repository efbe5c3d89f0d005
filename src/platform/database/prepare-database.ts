import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { DataSource, type MigrationInterface } from 'typeorm';
import { announceWait } from '../kernel/announce-wait.js';
import { StartRefused } from '../kernel/start-refused.js';
import { APP_ROLE } from './data-source.js';
import { applySettings, CONNECT_TIMEOUT_MS, openConnection } from './sessions.js';

/** Beside `src`, both in the sources and in `dist`. */
const FOLDER = new URL('../../../migrations/', import.meta.url);

type Migration = new () => MigrationInterface;

/** A function of the database in a file of its own; the file is its one truth and is applied whenever it changes. */
interface SqlFunction {
  name: string;
  text: string;
  sha256: string;
}

/** Every migration, in the order of the time in its name. */
export async function allMigrations(): Promise<Migration[]> {
  const files = (await readdir(FOLDER)).filter((file) => /^\d+-[\w-]+\.[jt]s$/.test(file)).toSorted();
  return Promise.all(files.map(async (file) => migrationIn(file)));
}

async function migrationIn(file: string): Promise<Migration> {
  const exported = Object.values((await import(new URL(file, FOLDER).href)) as Record<string, Migration>);
  if (exported.length !== 1) throw new Error(`${file} must export exactly one migration`);
  return exported[0]!;
}

/** Every function of `migrations/functions`. */
async function allFunctions(): Promise<SqlFunction[]> {
  const folder = new URL('functions/', FOLDER);
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).toSorted();
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(new URL(file, folder), 'utf8');
      return {
        name: file.slice(0, -'.sql'.length),
        text,
        sha256: createHash('sha256').update(text).digest('hex'),
      };
    }),
  );
}

/**
 * Applies, in the open transaction, the functions that the database does not have yet, or has in another version; the table
 * of what it has is made by the first call.
 */
async function applyFunctions(owner: pg.ClientBase, functions: readonly SqlFunction[]): Promise<void> {
  await owner.query(
    `create table if not exists sql_functions (name text primary key, sha256 text not null);
     revoke all on sql_functions from public`,
  );
  const { rows } = await owner.query<{ name: string; sha256: string }>(
    'select name, sha256 from sql_functions',
  );
  const applied = new Map(rows.map(({ name, sha256 }) => [name, sha256]));
  for (const { name, text, sha256 } of functions) {
    if (applied.get(name) === sha256) continue;
    await owner.query(text);
    await owner.query(
      `insert into sql_functions (name, sha256) values ($1, $2)
       on conflict (name) do update set sha256 = excluded.sha256`,
      [name, sha256],
    );
  }
}

/** Any number no other program on the server is likely to lock: 'cons' in ASCII. */
const MIGRATION_LOCK = 0x636f6e73;

/** A long migration of another process is worth waiting for. */
const LOCK_LIMIT_MS = 600_000;
const LOCK_TRY_EVERY_MS = 200;

/** What a migration may wait for others' transactions: while it waits, everybody who needs the table waits behind it. */
const TABLE_LOCK_TIMEOUT = { lock_timeout: '60s' };

/** Of a session that waits with an open transaction. */
const LOCK_SETTINGS = {
  idle_in_transaction_session_timeout: '0',
  statement_timeout: '0',
  ...TABLE_LOCK_TIMEOUT,
};

/** Everybody may make temporary tables in a new database. None of ours are, and none can stand in for one of our tables. */
const WITHOUT_TEMPORARY_TABLES = /* sql */ `
do $$
begin
  if has_database_privilege('${APP_ROLE}', current_database(), 'temporary')
    and pg_has_role((select datdba from pg_database where datname = current_database()), 'usage')
  then
    execute format('revoke temporary on database %I from public, ${APP_ROLE}', current_database());
  end if;
end $$`;

/** Who has the migration lock, as a person finds it in the server. */
const HOLDER = /* sql */ `
select format('process %s of the server (%s%s, since %s)', a.pid, a.application_name,
    coalesce(' from ' || host(a.client_addr), ''), to_char(a.xact_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')) as holder
from pg_locks l join pg_stat_activity a using (pid)
where l.locktype = 'advisory' and l.granted and l.objsubid = 1 and l.classid = 0 and l.objid = $1
  and l.database = (select oid from pg_database where datname = current_database())`;

interface Preparation {
  log?: (message: string) => void;
  lockLimitMs?: number;
}

/**
 * Brings the database up to this program's schema, as the owner role. Processes that start at the same moment wait
 * for the first; it alone migrates. The lock is that of a transaction, so it ends with it, also behind a pooler, which
 * keeps the sessions of clients that have gone.
 */
export async function prepareDatabase(
  url: string,
  { log = () => undefined, lockLimitMs = LOCK_LIMIT_MS }: Preparation = {},
): Promise<void> {
  const [migrations, functions] = await Promise.all([allMigrations(), allFunctions()]);
  const lock = await openConnection(url, 'consigliere migrations', { settings: LOCK_SETTINGS });
  try {
    await lock.query('begin');
    await announceWait('the migration lock, which another process of this service holds', log, () =>
      takeLock(lock, lockLimitMs),
    );
    if (!(await isCurrent(lock, migrations, functions))) {
      await announceWait('the migrations of the database to end', log, async () => {
        await migrate(url, migrations);
        await applyFunctions(lock, functions);
      });
    }
    await lock.query(WITHOUT_TEMPORARY_TABLES);
    await lock.query('commit');
  } finally {
    await lock.end().catch(() => undefined);
  }
}

/** @throws StartRefused when another process keeps it for too long */
async function takeLock(client: pg.Client, limitMs: number): Promise<void> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_xact_lock($1) as taken', [
      MIGRATION_LOCK,
    ]);
    if (rows[0]!.taken) return;
    if (performance.now() > deadline) break;
    await pause(LOCK_TRY_EVERY_MS);
  }
  const { rows } = await client.query<{ holder: string }>(HOLDER, [MIGRATION_LOCK]);
  throw new StartRefused(
    `Another process has held the migration lock of the database for ${Math.round(limitMs / 1000)} s: ${rows[0]?.holder ?? 'one that has just ended'}. ` +
      'If it is migrating, start again when it has finished; otherwise end it with select pg_terminate_backend(<process>);',
  );
}

async function migrate(url: string, migrations: (new () => MigrationInterface)[]): Promise<void> {
  const owner = new DataSource({
    type: 'postgres',
    url,
    installExtensions: false,
    applicationName: 'consigliere migrations',
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    extra: {
      onConnect: (client: pg.PoolClient) =>
        applySettings(client, { statement_timeout: '0', ...TABLE_LOCK_TIMEOUT }),
    },
    migrations,
    migrationsTableName: 'migrations',
    // Its own would print a migration that fails, which is told once, by who started the program.
    logger: 'debug',
  });
  await owner.initialize();
  try {
    await owner.runMigrations({ transaction: 'each' });
  } finally {
    await owner.destroy();
  }
}

async function isCurrent(
  client: pg.Client,
  migrations: readonly (new () => MigrationInterface)[],
  functions: readonly SqlFunction[],
): Promise<boolean> {
  const { rows: found } = await client.query<{ there: boolean }>(
    `select to_regclass('public.migrations') is not null and to_regclass('public.sql_functions') is not null as there`,
  );
  if (!found[0]?.there) return false;
  const { rows } = await client.query<{ done: string[] }>(
    `select array(select name from migrations) || array(select name || ' ' || sha256 from sql_functions) as done`,
  );
  const done = new Set(rows[0]!.done);
  return (
    migrations.every(({ name }) => done.has(name)) &&
    functions.every(({ name, sha256 }) => done.has(`${name} ${sha256}`))
  );
}
