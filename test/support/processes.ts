import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Tier } from '../../src/platform/auth/caller.js';
import { sha256 } from '../../src/platform/kernel/canonical-json.js';
import { newId } from '../../src/platform/kernel/ids.js';
import { newOperatorToken } from '../../src/platform/kernel/operator-token.js';
import { Client } from './client.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';

const ROOT = join(import.meta.dirname, '../..');
const MAIN = join(ROOT, 'dist/src/main.js');
const READY = /^Consigliere is ready at (\S+)$/;
const READY_WITHIN_MS = 45_000;

/** The program as it is started in production, in a process of its own: `npm run build` comes first. */
export class ServiceProcess {
  /** Each log line so far. */
  readonly logs: Record<string, unknown>[] = [];
  #url: string | undefined;
  #errors = '';
  readonly #exit: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;

  private constructor(private readonly child: ChildProcess) {
    this.#exit = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
    child.stderr!.on('data', (chunk: Buffer) => (this.#errors += chunk.toString()));
  }

  /** Starts the program with these variables and nothing else of ours; answers once it listens. */
  static async start(environment: Record<string, string>): Promise<ServiceProcess> {
    const child = spawn(process.execPath, [MAIN], {
      cwd: ROOT,
      env: { PATH: process.env.PATH, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const service = new ServiceProcess(child);
    started.add(child);
    child.once('exit', () => started.delete(child));
    await service.ready();
    return service;
  }

  get pid(): number {
    return this.child.pid!;
  }

  get url(): string {
    return this.#url!;
  }

  /** What it wrote to stderr. */
  get errors(): string {
    return this.#errors;
  }

  get exited(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  signal(signal: NodeJS.Signals): void {
    if (!this.exited) process.kill(this.pid, signal);
  }

  /** SIGKILL: nothing of the program gets to know. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.#exit;
  }

  /** SIGTERM, as an orchestrator ends it; answers the exit code. */
  async stop(): Promise<number | null> {
    this.signal('SIGTERM');
    const late = setTimeout(() => this.signal('SIGKILL'), 30_000);
    const { code } = await this.#exit;
    clearTimeout(late);
    return code;
  }

  private async ready(): Promise<void> {
    const lines = createInterface({ input: this.child.stdout! });
    const told = new Promise<void>((resolve) => {
      lines.on('line', (line) => {
        if (!line.startsWith('{')) return;
        const log = JSON.parse(line) as Record<string, unknown>;
        this.logs.push(log);
        const url = READY.exec(String(log['msg']))?.[1];
        if (url === undefined) return;
        this.#url = url;
        resolve();
      });
    });
    const stop = new AbortController();
    const late = once(AbortSignal.timeout(READY_WITHIN_MS), 'abort', { signal: stop.signal });
    await Promise.race([told, this.#exit, late]);
    stop.abort();
    await late.catch(() => undefined);
    if (this.#url !== undefined) return;
    await this.kill();
    throw new Error(
      `the program did not get ready:\n${this.#errors}\n${JSON.stringify(this.logs.slice(-5))}`,
    );
  }
}

/** Whatever ends the test run ends what it started; by process id, and nothing else. */
const started = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of started) child.kill('SIGKILL');
});

/** Several processes of one service over one database. */
export interface Service {
  processes: ServiceProcess[];
  database: TestDatabase;
  /** Of the owner of the first workspace. */
  token: string;
  workspaceId: string;
  /** Rows, read as the owner of the database. */
  rows: <T = Record<string, unknown>>(sql: string, values?: unknown[]) => Promise<T[]>;
  /** A client of the owner at any of the processes, with an address of its own. */
  client(process?: ServiceProcess): Client;
  /** One process more; `environment` on top of the service's. */
  start(environment?: Record<string, string>): Promise<ServiceProcess>;
  createWorkspace(tier: Tier): Promise<{ workspaceId: string; token: string }>;
  close(): Promise<void>;
}

export async function startService(
  processes: number,
  environment: Record<string, string> = {},
  ownDatabase?: TestDatabase,
): Promise<Service> {
  const database = ownDatabase ?? (await createTestDatabase());
  const dataDir = await mkdtemp(join(tmpdir(), 'consigliere-service-'));
  const token = newOperatorToken();
  const variables = {
    NODE_ENV: 'test',
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    PORT: '0',
    RATE_LIMIT_STORE: 'postgres',
    TRUST_PROXY: '1',
    BOOTSTRAP_TOKEN: token,
    BOOTSTRAP_TIER: 'enterprise',
    ...environment,
  };
  const running: ServiceProcess[] = [];
  const rows = async <T>(sql: string, values: unknown[] = []) =>
    (await database.owner.query(sql, values)).rows as T[];
  const start = async (more: Record<string, string> = {}) => {
    const one = await ServiceProcess.start({ ...variables, ...more });
    running.push(one);
    return one;
  };
  const close = async () => {
    await Promise.all(running.map((one) => one.kill()));
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    // The first makes the workspace and the keys that the others find.
    await start();
    await Promise.all(Array.from({ length: processes - 1 }, () => start()));
    const [first] = await rows<{ workspace_id: string }>('select workspace_id from workspaces');
    return {
      processes: running,
      database,
      token,
      workspaceId: first!.workspace_id,
      rows,
      client(one) {
        const alive = running.filter(({ exited }) => !exited);
        return new Client((one ?? alive[randomInt(alive.length)]!).url, token);
      },
      start,
      async createWorkspace(tier) {
        const [workspaceId, userId, memberId] = [newId('wks'), newId('usr'), newId('mem')];
        const memberToken = newOperatorToken();
        // What a new workspace begins with is written with the rights of the owner, whom row-level security binds too.
        await rows(
          `insert into workspaces (workspace_id, name, tier)
           select $1, 'Another', $2 from set_config('app.workspace_id', $1, true)`,
          [workspaceId, tier],
        );
        await rows(
          `insert into users (user_id, email, display_name) values ($1, $1 || '@example.com', 'Owner')`,
          [userId],
        );
        await rows(
          `insert into members (member_id, workspace_id, user_id, role) values ($1, $2, $3, 'owner')`,
          [memberId, workspaceId, userId],
        );
        await rows(
          `insert into tokens (token_id, workspace_id, member_id, name, token_hash, hint) values ($1, $2, $3, 'test', $4, '')`,
          [newId('tok'), workspaceId, memberId, sha256(memberToken)],
        );
        return { workspaceId, token: memberToken };
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
