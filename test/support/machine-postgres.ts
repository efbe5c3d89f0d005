import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { launchPostmaster } from '../../src/platform/embedded-postgres/postmaster.js';
import { runAs, serverUser } from '../../src/platform/embedded-postgres/user.js';

const PROGRAMS = ['pg_dump', 'pg_dumpall', 'pg_restore', 'psql', 'initdb', 'postgres'];
const PACKAGED = '/usr/lib/postgresql';

/**
 * The folder of a whole PostgreSQL that is installed on this machine, undefined without one. The embedded one has no pg_dump,
 * and a pg_dump refuses a server that is newer than itself, so its own server goes with it.
 */
export function machinePostgres(): string | undefined {
  const onPath = (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'pg_dump'))
    .filter((program) => existsSync(program))
    .map((program) => dirname(realpathSync(program)));
  const packaged = existsSync(PACKAGED)
    ? readdirSync(PACKAGED)
        .toSorted((a, b) => Number(b) - Number(a))
        .map((version) => join(PACKAGED, version, 'bin'))
    : [];
  return [...onPath, ...packaged].find((folder) =>
    PROGRAMS.every((program) => existsSync(join(folder, program))),
  );
}

/** A server of these programs, with a superuser `postgres`. */
export interface MachineServer {
  /** Its superuser's address, without a database. */
  url: string;
  /** One statement as that superuser. */
  run(sql: string, database?: string): Promise<pg.QueryResult>;
  /** Ends it, rolling back what is under way, and starts it again; answers once it takes connections. */
  restart(): Promise<void>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

export async function startMachineServer(
  programs: string,
  settings: Record<string, string> = { fsync: 'off' },
): Promise<MachineServer> {
  const folder = await mkdtemp(join(tmpdir(), 'consigliere-server-'));
  const user = serverUser(undefined);
  const directory = join(folder, 'cluster');
  const passwordFile = join(folder, 'password');
  const password = randomBytes(12).toString('hex');
  await mkdir(directory);
  await writeFile(passwordFile, password);
  await chmod(folder, 0o755);
  if (user) for (const path of [directory, passwordFile]) await chown(path, user.uid, user.gid);
  const flags = [`--pgdata=${directory}`, '--username=postgres', `--pwfile=${passwordFile}`];
  await promisify(execFile)(
    join(programs, 'initdb'),
    [...flags, '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-sync'],
    { ...runAs(user), cwd: folder, env: { PATH: programs, LC_ALL: 'C', TZ: 'UTC' } },
  );
  const port = await freePort();
  const launch = () =>
    launchPostmaster(
      { directory, native: dirname(programs), user },
      { listen_addresses: '127.0.0.1', unix_socket_directories: '', port: String(port), ...settings },
    );
  let postmaster = launch();
  const kill = () => postmaster.shutDown('immediate');
  process.once('exit', kill);
  const url = `postgres://postgres:${password}@127.0.0.1:${port}`;
  const run = async (sql: string, database = 'postgres') => {
    const client = new pg.Client({ connectionString: `${url}/${database}` });
    await client.connect();
    try {
      return await client.query(sql);
    } finally {
      await client.end();
    }
  };
  const started = async () => {
    while (!(await run('select 1').catch(() => undefined))) {
      if (!postmaster.running()) throw new Error(`the server ended:\n${postmaster.logTail()}`);
      await sleep(20);
    }
  };
  const ended = async () => {
    while (postmaster.running()) await sleep(5);
  };
  await started();
  return {
    url,
    run,
    async restart() {
      postmaster.shutDown('fast');
      await ended();
      postmaster = launch();
      await started();
    },
    async stop() {
      kill();
      process.off('exit', kill);
      await ended();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** One that nobody listens on just now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
