import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { assertDatabase } from '../../src/platform/database/assert-database.js';
import { databaseFault } from '../../src/platform/database/database-fault.js';
import { prepareDatabase } from '../../src/platform/database/prepare-database.js';
import { withLock } from '../../src/platform/embedded-postgres/lock.js';
import { createTestDatabase } from '../support/test-database.js';

/** The first line that is logged. */
function firstLine() {
  const { promise, resolve } = Promise.withResolvers<string>();
  return { told: promise, log: resolve };
}

describe.concurrent('a start that waits says for what, and ends', () => {
  it('with the migration lock of another process, which it names', async () => {
    const database = await createTestDatabase();
    const holder = await database.owner.connect();
    try {
      await holder.query('begin');
      await holder.query(`set local application_name = 'another start'`);
      await holder.query('select pg_advisory_xact_lock($1)', [0x636f6e73]);
      const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid');
      const { told, log } = firstLine();
      const start = prepareDatabase(database.url, { log, lockLimitMs: 3_000 });
      await expect(start).rejects.toThrow(
        new RegExp(
          `^Another process has held the migration lock of the database for 3 s: process ${rows[0]!.pid} of the server \\(another start from .*pg_terminate_backend`,
        ),
      );
      expect(await told).toMatch(/^Waiting for the migration lock, .* \(2 s so far\)\.$/);
      // What waited has left nothing behind.
      await holder.query('commit');
      await prepareDatabase(database.url);
    } finally {
      holder.release();
      await database.drop();
    }
  });

  it('with a database that accepts connections and says nothing', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const url = `postgres://a:b@127.0.0.1:${(silent.address() as AddressInfo).port}/x`;
    const { told, log } = firstLine();
    const error: unknown = await assertDatabase(url, log).catch((thrown: unknown) => thrown);
    expect(databaseFault(error, url)?.message).toMatch(
      /^The PostgreSQL server at \S+ does not answer in time\./,
    );
    expect(await told).toMatch(/^Waiting for PostgreSQL at 127\.0\.0\.1:\d+ to answer \(2 s so far\)\.$/);
    silent.close();
  });

  it('with the lock of another process on DATA_DIR', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'consigliere-lock-'));
    const path = join(folder, 'postgres.lock');
    const other = new DatabaseSync(path);
    other.exec('BEGIN EXCLUSIVE');
    const { told, log } = firstLine();
    const entered = withLock(path, log, () => Promise.resolve('entered'));
    expect(await told).toContain(
      `Waiting for the lock ${path}, which another process of this DATA_DIR holds`,
    );
    other.close();
    expect(await entered).toBe('entered');
    await rm(folder, { recursive: true, force: true });
  });
});
