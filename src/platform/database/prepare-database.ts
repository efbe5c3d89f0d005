import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { DataSource, type MigrationInterface } from 'typeorm';
import { announceWait } from '../kernel/announce-wait.js';
import { StartRefused } from '../kernel/start-refused.js';
import { APP_ROLE } from './data-source.js';
import { allFunctions, allMigrations, applyFunctions, type SqlFunction } from './migrations.js';
import { applySettings, openConnection, CONNECT_TIMEOUT_MS } from './sessions.js';

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
