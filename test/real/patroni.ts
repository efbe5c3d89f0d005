import { type ChildProcess, execFile, type SpawnOptions } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runAs, serverUser } from '../../src/platform/embedded-postgres/user.js';
import { freePort } from '../support/machine-postgres.js';
import { programPath, type RunningProgram, startProgram } from '../support/programs.js';
import { eventually } from '../support/test-app.js';
import type { BalancedServer } from './database-balancer.js';
import { snippet } from './proxies.js';

export const PATRONI = {
  patroni: programPath('patroni'),
  patronictl: programPath('patronictl'),
  etcd: programPath('etcd'),
};
const PASSWORD = 'of-the-superuser';

/** Two servers under Patroni, with the dynamic configuration of docs/guides/high-availability.md, and an etcd of one process. */
export interface PatroniCluster {
  nodes: [PatroniNode, PatroniNode];
  /** The superuser's address at this port, without a database. */
  url(port: number): string;
  stop(): Promise<void>;
}

/** @param programs the folder of PostgreSQL's */
export async function startPatroni(programs: string): Promise<PatroniCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'consigliere-patroni-'));
  // None of its programs may be root.
  const user = serverUser(undefined);
  if (user) await chown(folder, user.uid, user.gid);
  const options = { ...runAs(user), cwd: folder };
  const [clients, peers] = [await freePort(), await freePort()];
  const etcd = await startProgram(
    PATRONI.etcd!,
    [
      `--data-dir=${join(folder, 'etcd')}`,
      ...['listen-client', 'advertise-client'].map((name) => `--${name}-urls=http://127.0.0.1:${clients}`),
      ...['listen-peer', 'initial-advertise-peer'].map((name) => `--${name}-urls=http://127.0.0.1:${peers}`),
      `--initial-cluster=default=http://127.0.0.1:${peers}`,
    ],
    [clients],
    undefined,
    options,
  );
  const dynamic = await snippet('high-availability', 'patroni.yaml');
  const start = async (name: string, role: Role) => {
    const [port, restPort] = [await freePort(), await freePort()];
    const at = (own: number) => ({ listen: `127.0.0.1:${own}`, connect_address: `127.0.0.1:${own}` });
    const configuration = {
      scope: 'consigliere',
      name,
      etcd3: { host: `127.0.0.1:${clients}` },
      restapi: at(restPort),
      postgresql: {
        ...at(port),
        data_dir: join(folder, name),
        bin_dir: programs,
        pgpass: join(folder, `${name}.pgpass`),
        authentication: {
          superuser: { username: 'postgres', password: PASSWORD },
          replication: { username: 'replicator', password: PASSWORD },
        },
        parameters: { unix_socket_directories: folder },
        pg_hba: ['all', 'replication'].map((what) => `host ${what} all 127.0.0.1/32 scram-sha-256`),
      },
    };
    const lines = Object.entries(configuration).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
    const dcs = ['bootstrap:', '  dcs:', dynamic.replace(/^/gm, '    ')];
    await writeFile(join(folder, `${name}.yaml`), [...lines, ...dcs].join('\n'));
    const node = new PatroniNode(name, folder, port, restPort, options);
    await node.start();
    await eventually(() => node.is(role), Boolean, 60);
    return node;
  };
  const nodes: PatroniCluster['nodes'] = [await start('one', 'primary'), await start('two', 'sync')];
  return {
    nodes,
    url: (port) => `postgres://postgres:${PASSWORD}@127.0.0.1:${port}`,
    async stop() {
      for (const node of nodes) await node.crash();
      await etcd.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** `sync`: a replica whose confirmation a COMMIT waits for. */
type Role = 'primary' | 'sync';

/** A server and its Patroni. */
export class PatroniNode implements BalancedServer {
  #patroni: RunningProgram | undefined;

  constructor(
    readonly name: string,
    private readonly folder: string,
    readonly port: number,
    readonly restPort: number,
    private readonly options: SpawnOptions,
  ) {}

  private get file(): string {
    return join(this.folder, `${this.name}.yaml`);
  }

  async start(): Promise<void> {
    process.once('exit', this.#kill);
    const end = (child: ChildProcess) => child.kill('SIGKILL');
    this.#patroni = await startProgram(PATRONI.patroni!, [this.file], [this.restPort], end, this.options);
  }

  /** Whether its Patroni says so. */
  async is(role: Role): Promise<boolean> {
    const signal = AbortSignal.timeout(1_000);
    const asked = await fetch(`http://127.0.0.1:${this.restPort}/${role}`, { signal }).catch(() => undefined);
    return asked?.status === 200;
  }

  /** Makes the other the primary, as an administrator does. */
  async switchOver(): Promise<void> {
    const flags = ['-c', this.file, 'switchover', 'consigliere', '--leader', this.name, '--force'];
    await promisify(execFile)(PATRONI.patronictl!, flags);
  }

  /** `kill -9` of Patroni and of all processes of its server. */
  async crash(): Promise<void> {
    await this.#patroni?.stop();
    this.#kill();
    process.off('exit', this.#kill);
  }

  /** To all processes of its server: they hang, or go on. */
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    const pid = readFileSync(join(this.folder, this.name, 'postmaster.pid'), 'utf8').split('\n')[0]!;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    for (const one of [pid, ...children]) process.kill(Number(one), name);
  }

  readonly #kill = () => {
    try {
      this.signal('SIGKILL');
    } catch {
      // It has ended.
    }
  };
}
