import { runMigrations } from 'graphile-worker';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { Ground1763600000000 } from '../../../migrations/1763600000000-ground.js';
import { Directives1763600100000 } from '../../../migrations/1763600100000-directives.js';
import { Events1763600200000 } from '../../../migrations/1763600200000-events.js';
import { Partner1763600300000 } from '../../../migrations/1763600300000-partner.js';
import { ReceiptIndexes1763600400000 } from '../../../migrations/1763600400000-receipt-indexes.js';

/** Every migration, in order. */
const MIGRATIONS = [
  Ground1763600000000,
  Directives1763600100000,
  Events1763600200000,
  Partner1763600300000,
  ReceiptIndexes1763600400000,
];

/** Any number no other program on the server is likely to lock: 'cons' in ASCII. */
const MIGRATION_LOCK = 0x636f6e73;

/**
 * Brings the database up to this program's schema, as the owner role. Processes that start at the same moment wait
 * for the first; it alone migrates.
 */
export async function prepareDatabase(url: string): Promise<void> {
  const lock = new pg.Client({ connectionString: url, application_name: 'consigliere migrations' });
  lock.on('error', () => undefined);
  await lock.connect();
  try {
    await lock.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    if (await isCurrent(lock)) return;
    await runMigrations({ connectionString: url, logger: undefined });
    const owner = new DataSource({
      type: 'postgres',
      url,
      installExtensions: false,
      migrations: MIGRATIONS,
      migrationsTableName: 'migrations',
    });
    await owner.initialize();
    try {
      await owner.runMigrations({ transaction: 'each' });
    } finally {
      await owner.destroy();
    }
  } finally {
    await lock.end();
  }
}

async function isCurrent(client: pg.Client): Promise<boolean> {
  const { rows: found } = await client.query<{ there: boolean }>(
    `select to_regclass('public.migrations') is not null and to_regnamespace('graphile_worker') is not null as there`,
  );
  if (!found[0]?.there) return false;
  const { rows } = await client.query<{ name: string }>('select name from migrations');
  const done = new Set(rows.map((row) => row.name));
  return MIGRATIONS.every((migration) => done.has(migration.name));
}
