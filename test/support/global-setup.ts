import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres/embedded-postgres.js';
import { prepareDatabase } from '../../src/platform/database/prepare-database.js';

export const TEMPLATE = 'consigliere_template';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The owner's connection string of the run's server, without a database name. */
    serverUrl: string;
  }
}

/** One real PostgreSQL for the whole run, with one migrated database that each test file clones. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'consigliere-test-'));
  // Run by root, the server works as another user, who must be able to enter.
  await chmod(dataDir, 0o755);
  const server = await startEmbeddedPostgres({
    dataDir,
    // The data is thrown away, so nothing needs to survive a crash of this server.
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' },
    log: () => undefined,
  });
  const owner = new pg.Client({ connectionString: server.url });
  await owner.connect();
  await owner.query(`create database ${TEMPLATE}`);
  await owner.end();
  const template = new URL(server.url);
  template.pathname = `/${TEMPLATE}`;
  await prepareDatabase(template.href);
  project.provide('serverUrl', server.url);
  return async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
}
