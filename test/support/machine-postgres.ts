import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { launchPostmaster } from '../../src/platform/embedded-postgres/postmaster.js';
import { runAs, serverUser } from '../../src/platform/embedded-postgres/user.js';

const PROGRAMS = ['pg_dump', 'pg_dumpall', 'pg_restore', 'psql', 'initdb', 'postgres', 'pg_basebackup'];
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
  port: number;
  /** One statement as that superuser. */
  run(sql: string, database?: string, values?: unknown[]): Promise<pg.QueryResult>;
  /** Starts it when it has ended; answers once it takes connections. */
  start(): Promise<void>;
  /** Ends it at once, as a fault does: nothing is written any more. */
  crash(): Promise<void>;
  /** Ends it, rolling back what is under way, and starts it again; answers once it takes connections. */
  restart(): Promise<void>;
  /** Stops all of its processes where they are, as a machine does that hangs, or lets them go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): Promise<void>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

/** Makes the data of a server in an empty directory; answers the superuser's password. */
type Fill = (
  directory: string,
  run: (program: string, flags: string[], environment?: Record<string, string>) => Promise<unknown>,
) => Promise<string>;

export function startMachineServer(
  programs: string,
  settings: Record<string, string> = { fsync: 'off' },
): Promise<MachineServer> {
  return startServer(programs, settings, async (directory, run) => {
    const password = randomBytes(12).toString('hex');
    const file = join(dirname(directory), 'password');
    await writeFile(file, password);
    const user = serverUser(undefined);
    if (user) await chown(file, user.uid, user.gid);
    const flags = [`--pgdata=${directory}`, '--username=postgres', `--pwfile=${file}`];
    await run('initdb', [...flags, '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-sync']);
    return password;
  });
}

/** A streaming replica of the primary, which has to be running: a hot standby that applies what it receives so much later. */
export function startReplica(
  programs: string,
  primary: Pick<MachineServer, 'url'>,
  { delayMs = 0, ...settings }: { delayMs?: number } & Record<string, string | number> = {},
): Promise<MachineServer> {
  const delay = { recovery_min_apply_delay: `${delayMs}ms`, ...settings } as Record<string, string>;
  return startServer(programs, delay, async (directory, run) => {
    const { hostname, port, password } = new URL(primary.url);
    const from = ['--host', hostname, '--port', port, '--username', 'postgres'];
    const flags = ['--wal-method=stream', '--checkpoint=fast', '--write-recovery-conf', '--no-sync'];
    await run('pg_basebackup', [`--pgdata=${directory}`, ...from, ...flags], { PGPASSWORD: password });
    return password;
  });
}

async function startServer(
  programs: string,
  settings: Record<string, string>,
  fill: Fill,
): Promise<MachineServer> {
  const folder = await mkdtemp(join(tmpdir(), 'consigliere-server-'));
  const user = serverUser(undefined);
  const directory = join(folder, 'cluster');
  await mkdir(directory, { mode: 0o700 });
  await chmod(folder, 0o755);
  if (user) await chown(directory, user.uid, user.gid);
  const password = await fill(directory, (program, flags, environment) =>
    promisify(execFile)(join(programs, program), flags, {
      ...runAs(user),
      cwd: folder,
      env: { PATH: programs, LC_ALL: 'C', TZ: 'UTC', ...environment },
    }),
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
  const run = async (sql: string, database = 'postgres', values?: unknown[]) => {
    const client = new pg.Client({ connectionString: `${url}/${database}` });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return await client.query(sql, values);
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
  const start = () => {
    postmaster = launch();
    return started();
  };
  const crash = () => {
    kill();
    return ended();
  };
  const signal = async (name: NodeJS.Signals) => {
    const pid = (await readFile(join(directory, 'postmaster.pid'), 'utf8')).split('\n')[0]!;
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
    for (const one of [pid, ...children.trim().split(' ')]) process.kill(Number(one), name);
  };
  await started();
  return {
    url,
    port,
    run,
    start,
    crash,
    signal,
    async restart() {
      postmaster.shutDown('fast');
      await ended();
      await start();
    },
    async stop() {
      // A stopped process hears of nothing else.
      if (postmaster.running()) await signal('SIGCONT').catch(() => undefined);
      await crash();
      process.off('exit', kill);
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
