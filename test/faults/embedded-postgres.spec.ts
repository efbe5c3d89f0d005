import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { chmod, cp, lstat, mkdtemp, readFile, rm, unlink } from 'node:fs/promises';
import { createServer, Server, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { packagedBinaries, type Binaries } from '../../src/platform/embedded-postgres/binaries.js';
import { startEmbeddedPostgres, startFrom } from '../../src/platform/embedded-postgres/embedded-postgres.js';
import { findServer } from '../../src/platform/embedded-postgres/process.js';
import type { SharedServer } from '../../src/platform/embedded-postgres/shared-server.js';

const isRoot = process.getuid?.() === 0;
const SETTINGS = { fsync: 'off', shared_buffers: '16MB' };

let folder: string;
let dataDir: string;
let stateFolder: string;
let logged: string[];
let directories: Set<string>;
let children: ChildProcess[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'embedded-postgres-'));
  await chmod(folder, 0o755); // a server started by root runs as another user
  dataDir = join(folder, 'data');
  stateFolder = join(folder, 'state');
  logged = [];
  directories = new Set([join(dataDir, 'postgres')]);
  children = [];
});

afterEach(async () => {
  for (const child of children) await kill(child);
  for (const directory of directories) await killServer(directory);
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

async function start(options: { binaries?: Binaries; settings?: Record<string, string> } = {}) {
  const server = await startFrom(
    { binaries: options.binaries ?? packagedBinaries(), stateFolder },
    { dataDir, settings: { ...SETTINGS, ...options.settings }, log: (message) => logged.push(message) },
  );
  directories.add(server.directory);
  return server;
}

/** A starter in a process and a session of its own, which stays until killed. */
function startElsewhere(): { child: ChildProcess; server: Promise<SharedServer> } {
  const source = new URL('../../src/platform/embedded-postgres/embedded-postgres.ts', import.meta.url);
  const host = { binaries: packagedBinaries(), stateFolder };
  const script = `
    import { registerHooks } from 'node:module';
    registerHooks({
      resolve: (name, context, next) =>
        next(context.parentURL?.endsWith('.ts') ? name.replace(/^(\\..*)\\.js$/, '$1.ts') : name, context),
    });
    const { startFrom } = await import(${JSON.stringify(source.href)});
    const server = await startFrom(${JSON.stringify(host)}, {
      dataDir: ${JSON.stringify(dataDir)}, settings: ${JSON.stringify(SETTINGS)}, log: () => undefined,
    });
    console.log(JSON.stringify(server));
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const printed = once(child.stdout!, 'data').then(([line]) => JSON.parse(String(line)) as SharedServer);
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('the other starter ended')));
  const server = Promise.race([printed, ended]);
  server.catch(() => undefined); // a test may kill it
  return { child, server };
}

async function query<Row>(url: string, sql: string): Promise<Row[]> {
  const client = new Client(url);
  client.on('error', () => undefined); // an orphaned backend may end after its answer
  await client.connect();
  try {
    return (await client.query(sql)).rows as Row[];
  } finally {
    await client.end();
  }
}

const remember = (url: string) => query(url, 'CREATE TABLE kept AS SELECT 42 AS answer');
const recall = (url: string) => query(url, 'SELECT answer FROM kept');
const KEPT = [{ answer: 42 }];

function pidOf(directory: string): number {
  return Number(readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n')[0]);
}

async function killServer(directory: string): Promise<void> {
  const pid = await findServer(directory);
  if (pid !== undefined) process.kill(pid, 'SIGQUIT');
  while ((await findServer(directory)) !== undefined) await sleep(5);
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

describe('a first start', () => {
  it('makes a cluster and a database behind a password, on the loopback only', async () => {
    const server = await start();
    expect(server).toMatchObject({
      startedByUs: true,
      initialised: true,
      directory: join(dataDir, 'postgres'),
    });
    expect(server.url).toMatch(
      new RegExp(`^postgres://consigliere:[\\w-]{32}@127\\.0\\.0\\.1:${server.port}/consigliere$`),
    );
    expect(
      await query(
        server.url,
        `SELECT current_setting('is_superuser') AS superuser, current_setting('listen_addresses') AS addresses,
                current_setting('unix_socket_directories') AS sockets, current_setting('fsync') AS fsync,
                current_setting('max_connections') AS connections, getdatabaseencoding() AS encoding,
                lower('É') AS lower, current_database() AS database`,
      ),
    ).toEqual([
      {
        superuser: 'on',
        addresses: '127.0.0.1',
        sockets: '',
        fsync: 'off',
        connections: '200',
        encoding: 'UTF8',
        lower: 'é',
        database: 'consigliere',
      },
    ]);
    await expect(query(server.url.replace(/:[^:@]*@/, ':wrong@'), 'SELECT')).rejects.toMatchObject({
      code: '28P01',
    });
    expect(statSync(join(server.directory, 'consigliere.json')).mode & 0o777).toBe(0o600);
    expect(readdirSync(dataDir).toSorted()).toEqual([
      'postgres',
      'postgres.lock',
      'postgres.log',
      'postgres.users',
    ]);
  });

  it('runs the binaries of the installed package', async () => {
    const server = await startEmbeddedPostgres({ dataDir, settings: SETTINGS, log: () => undefined });
    expect(await query(server.url, 'SHOW server_version')).toEqual([{ server_version: '18.4' }]);
    await server.stop();
  });
});

describe('a restart', () => {
  it('keeps the data and the password', async () => {
    const first = await start();
    await remember(first.url);
    const pid = pidOf(first.directory);
    await Promise.all([first.stop(), first.stop()]);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');

    const second = await start();
    expect(second).toMatchObject({ startedByUs: true, initialised: false });
    expect(new URL(second.url).password).toBe(new URL(first.url).password);
    expect(await recall(second.url)).toEqual(KEPT);
  });

  it('makes the database that a killed first start did not come to', async () => {
    const first = await start();
    await query(first.url.replace(/consigliere$/, 'postgres'), 'DROP DATABASE consigliere');
    await first.stop();
    expect(await query((await start()).url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });
});

describe('a live server', () => {
  it('survives the Ctrl-C of its starter, is adopted, and ends with the last one that uses it', async () => {
    const elsewhere = startElsewhere();
    const theirs = await elsewhere.server;
    await remember(theirs.url);
    const exited = once(elsewhere.child, 'exit');
    process.kill(-elsewhere.child.pid!, 'SIGINT'); // the whole group, as a terminal does
    await exited;

    const ours = await start();
    expect(ours).toMatchObject({
      startedByUs: false,
      initialised: false,
      port: theirs.port,
      url: theirs.url,
    });
    const another = startElsewhere();
    await another.server;
    await ours.stop();
    expect(logged.at(-1)).toBe('The embedded database keeps running because another process uses it.');
    expect(await recall(ours.url)).toEqual(KEPT);

    const last = await start();
    await kill(another.child);
    await last.stop();
    expect(await findServer(ours.directory)).toBeUndefined();
  });

  it('that ends without us is started again at its port, once for all who use it', async () => {
    const first = await start();
    const second = await start();
    await remember(first.url);
    const pid = pidOf(first.directory);
    for (const server of [first, second]) server.keepRunning();
    process.kill(pid, 'SIGKILL');
    await vi.waitUntil(() => recall(first.url).catch(() => undefined), { timeout: 30_000 });
    expect(pidOf(first.directory)).not.toBe(pid);
    expect(await recall(second.url)).toEqual(KEPT);
    await first.stop();
    expect(await recall(second.url)).toEqual(KEPT);
    await second.stop();
    expect(await findServer(first.directory)).toBeUndefined();
  });

  it('that is on its way down is waited for and replaced', async () => {
    const first = await start();
    const stopping = first.stop();
    expect(await start()).toMatchObject({ startedByUs: true });
    await stopping;
  });
});

describe('a stale pid file', () => {
  it('of a killed server is survived, with the data and while an orphan is still busy', async () => {
    const first = await start();
    await remember(first.url);
    // Looks up from its work only when it is done, and holds the shared memory until then.
    const busy = query(first.url, 'SELECT count(*) FROM generate_series(1, 5e6)').catch(() => undefined);
    await sleep(100);
    process.kill(pidOf(first.directory), 'SIGKILL');
    const second = await start();
    expect(second.startedByUs).toBe(true);
    expect(await recall(second.url)).toEqual(KEPT);
    await busy;
  });

  it('left empty by a power cut is survived', async () => {
    const first = await start();
    await first.stop();
    writeFileSync(join(first.directory, 'postmaster.pid'), '');
    expect(await start()).toMatchObject({ startedByUs: true });
  });
});

describe('a pid reused by another program', () => {
  it('does not pass for a server', async () => {
    const first = await start();
    const pidFile = await readFile(join(first.directory, 'postmaster.pid'), 'utf8');
    await first.stop();
    const { uid, gid } = statSync(first.directory);
    const other = spawn('sleep', ['60'], isRoot ? { uid, gid } : {});
    children.push(other);
    writeFileSync(join(first.directory, 'postmaster.pid'), pidFile.replace(/^\d+/, String(other.pid)));

    const second = await start();
    expect(second.startedByUs).toBe(true);
    expect(pidOf(second.directory)).not.toBe(other.pid);
    expect(other.signalCode).toBeNull();
  });
});

describe('binaries whose install script was blocked', () => {
  it('get their links and executable bits, by two starters at once', async () => {
    const { native, version } = packagedBinaries();
    const bare = join(folder, 'native');
    await cp(native, bare, { recursive: true, verbatimSymlinks: true });
    const list = JSON.parse(await readFile(join(bare, 'pg-symlinks.json'), 'utf8')) as { target: string }[];
    const links = list.map(({ target }) => join(folder, target));
    for (const link of links) await unlink(link).catch(() => undefined);
    for (const name of readdirSync(join(bare, 'bin'))) chmodSync(join(bare, 'bin', name), 0o644);

    const binaries = { native: bare, version };
    const otherData = join(folder, 'other');
    directories.add(join(otherData, 'postgres'));
    await Promise.all([
      start({ binaries }),
      startFrom({ binaries, stateFolder }, { dataDir: otherData, settings: SETTINGS, log: () => undefined }),
    ]);
    for (const link of links) expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect(readdirSync(join(bare, 'lib')).toSorted()).toEqual(readdirSync(join(native, 'lib')).toSorted());
  });
});

describe('two starters at once', () => {
  it('share the one server that one of them starts', async () => {
    const servers = await Promise.all([startElsewhere().server, startElsewhere().server, start()]);
    expect(servers.filter((server) => server.startedByUs)).toHaveLength(1);
    expect(servers.filter((server) => server.initialised)).toHaveLength(1);
    expect(new Set(servers.map((server) => server.url)).size).toBe(1);
  });
});

describe('a half-made initdb', () => {
  it('of a killed first start is redone', async () => {
    const { child } = startElsewhere();
    const unfinished = () =>
      existsSync(dataDir) && readdirSync(dataDir).find((name) => name.includes('.init-'));
    const signal = AbortSignal.timeout(10_000);
    while (!unfinished() || !existsSync(join(dataDir, unfinished() || '', 'cluster', 'PG_VERSION'))) {
      await sleep(2, undefined, { signal });
    }
    await kill(child);
    expect(existsSync(join(dataDir, 'postgres'))).toBe(false);

    const ours = await start();
    expect(ours).toMatchObject({ startedByUs: true, initialised: true });
    expect(await query(ours.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(unfinished()).toBeUndefined();
  });

  it('made in place is set aside', async () => {
    mkdirSync(join(dataDir, 'postgres', 'base'), { recursive: true });
    expect(await start()).toMatchObject({ initialised: true });
    const [aside] = readdirSync(dataDir).filter((name) => name.startsWith('postgres.unfinished-'));
    expect(readdirSync(join(dataDir, aside!))).toEqual(['base']);
    expect(logged.join('\n')).toContain(aside);
  });
});

describe('a port that is taken before the server binds it', () => {
  it('is given up for another', async () => {
    const rival = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(rival, 'listening');
    const taken = rival.address() as AddressInfo;
    const choice = vi.spyOn(Server.prototype, 'address').mockReturnValueOnce(taken);
    try {
      const server = await start();
      expect(choice).toHaveBeenCalledTimes(2);
      expect(server.port).not.toBe(taken.port);
      expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    } finally {
      choice.mockRestore();
      rival.close();
    }
  });
});

describe('a server that ends during its start', () => {
  it('is reported with the end of its log', async () => {
    await expect(start({ settings: { shared_buffers: 'plenty' } })).rejects.toThrow(
      /stopped while it was starting:[^]*invalid value for parameter "shared_buffers": "plenty"/,
    );
    expect(await start()).toMatchObject({ startedByUs: true, initialised: false });
  });
});

describe.runIf(isRoot)('as root below a folder only root may enter', () => {
  it('copies the binaries, places the cluster where an unprivileged user reaches it, and says so', async () => {
    const closed = join(folder, 'closed');
    mkdirSync(closed, { mode: 0o700 });
    dataDir = join(closed, 'data');
    const { native, version } = packagedBinaries();
    const binaries = { native: join(closed, 'native'), version };
    await cp(native, binaries.native, { recursive: true, verbatimSymlinks: true });

    const first = await start({ binaries });
    expect(first.directory.startsWith(join(stateFolder, 'clusters'))).toBe(true);
    expect(statSync(first.directory).uid).not.toBe(0);
    expect(logged.join('\n')).toContain(first.directory);
    expect(logged.join('\n')).toContain(join(stateFolder, `postgres-${version}`));
    await remember(first.url);
    await first.stop();

    chmodSync(closed, 0o755); // opened since: the data stay where they are
    const second = await start({ binaries });
    expect(second).toMatchObject({ directory: first.directory, initialised: false });
    expect(await recall(second.url)).toEqual(KEPT);
  });

  it('runs as the owner of an existing cluster', async () => {
    const first = await start();
    const owner = statSync(first.directory).uid;
    expect(owner).not.toBe(0);
    expect(await start()).toMatchObject({ startedByUs: false });
    const [process] = await query<{ uid: number }>(
      first.url,
      `SELECT (regexp_match(pg_read_file('/proc/self/status'), 'Uid:\\s+(\\d+)'))[1]::int AS uid`,
    );
    expect(process?.uid).toBe(owner);
  });
});
