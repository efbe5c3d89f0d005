import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { TEMPLATE } from './global-setup.js';

/** A database of the test file's own, cloned from the migrated template. */
export interface TestDatabase {
  /** The owner's connection string: tests look at rows, and break them, past row-level security. */
  url: string;
  owner: pg.Pool;
  drop(): Promise<void>;
}

export async function createTestDatabase(): Promise<TestDatabase> {
  const serverUrl = inject('serverUrl');
  const name = `t_${randomBytes(6).toString('hex')}`;
  const admin = new pg.Client({ connectionString: serverUrl });
  await admin.connect();
  await admin.query(`create database ${name} template ${TEMPLATE}`);
  await admin.end();
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const owner = new pg.Pool({ connectionString: url.href, max: 4 });
  owner.on('error', () => undefined);
  return {
    url: url.href,
    owner,
    async drop() {
      await owner.end();
      const client = new pg.Client({ connectionString: serverUrl });
      await client.connect();
      await client.query(`drop database if exists ${name} with (force)`);
      await client.end();
    },
  };
}
