import pg from 'pg';
import { type MachineServer, startMachineServer } from '../support/machine-postgres.js';
import type { TestDatabase } from '../support/test-database.js';

/** The database of a service, prepared as docs/guides/running.md says: its user owns it, and may create roles but no more. */
export interface MachineDatabase extends TestDatabase {
  server: MachineServer;
}

/** Starts the server with the settings that its package gives it, so that it flushes what it commits. */
export async function startMachineDatabase(
  programs: string,
  settings: Record<string, string> = {},
): Promise<MachineDatabase> {
  const server = await startMachineServer(programs, settings);
  await server.run(`create role consigliere login createrole password 'of-the-owner'`);
  await server.run('create database consigliere owner consigliere');
  const url = new URL(`${server.url}/consigliere`);
  const superuser = new pg.Pool({ connectionString: url.href, max: 2 });
  superuser.on('error', () => undefined);
  Object.assign(url, { username: 'consigliere', password: 'of-the-owner' });
  return {
    server,
    url: url.href,
    owner: superuser,
    async drop() {
      await superuser.end();
      await server.stop();
    },
  };
}
