import pg from 'pg';
import { DataSource, type MigrationInterface } from 'typeorm';
import { allFunctions, allMigrations, applyFunctions, type SqlFunction } from './migrations.js';

/** Any number no other program on the server is likely to lock: 'cons' in ASCII. */
const MIGRATION_LOCK = 0x636f6e73;

/**
 * Brings the database up to this program's schema, as the owner role. Processes that start at the same moment wait
 * for the first; it alone migrates.
 */
export async function prepareDatabase(url: string): Promise<void> {
  const [migrations, functions] = await Promise.all([allMigrations(), allFunctions()]);
  const lock = new pg.Client({ connectionString: url, application_name: 'consigliere migrations' });
  lock.on('error', () => undefined);
  await lock.connect();
  try {
    await lock.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    if (await isCurrent(lock, migrations, functions)) return;
    await migrate(url, migrations);
    await applyFunctions(lock, functions);
  } finally {
    await lock.end();
  }
}

async function migrate(url: string, migrations: (new () => MigrationInterface)[]): Promise<void> {
  const owner = new DataSource({
    type: 'postgres',
    url,
    installExtensions: false,
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
