import pg from 'pg';
import { type MachineServer, startMachineServer } from '../support/machine-postgres.js';
import type { TestDatabase } from '../support/test-database.js';

export interface MachineDatabase extends TestDatabase {
  server: MachineServer;
}

/** Starts the server with the settings that its package gives it, so that it flushes what it commits. */
export async function startMachineDatabase(
  programs: string,
  settings: Record<string, string> = {},
): Promise<MachineDatabase> {
  const server = await startMachineServer(programs, settings);
  return { server, ...(await prepareDatabase(server.url, () => server.stop())) };
}

/**
 * The database of a service, prepared as docs/guides/running.md says: its user owns it, and may create roles but no more.
 * @param serverUrl of the superuser, without a database
 * @param stop ends the server
 */
export async function prepareDatabase(serverUrl: string, stop: () => Promise<void>): Promise<TestDatabase> {
  const first = new pg.Client({ connectionString: `${serverUrl}/postgres` });
  await first.connect();
  await first.query(`create role consigliere login createrole password 'of-the-owner'`);
  await first.query('create database consigliere owner consigliere');
  await first.end();
  const url = new URL(`${serverUrl}/consigliere`);
  const superuser = new pg.Pool({ connectionString: url.href, max: 2 });
  superuser.on('error', () => undefined);
  Object.assign(url, { username: 'consigliere', password: 'of-the-owner' });
  return {
    url: url.href,
    owner: superuser,
    async drop() {
      await superuser.end();
      await stop();
    },
  };
}
