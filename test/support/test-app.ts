import { mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { Type } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import type { DestinationStream } from 'pino';
import { APPLICATION_OPTIONS, initialise, rootModule } from '../../src/application.js';
import type { Role, Tier } from '../../src/platform/auth/caller.js';
import { type Config, loadConfig } from '../../src/platform/config/config.js';
import { PublicAddress } from '../../src/platform/http/public-address.js';
import { sha256 } from '../../src/platform/kernel/canonical-json.js';
import { Clock } from '../../src/platform/kernel/clock.js';
import { newId } from '../../src/platform/kernel/ids.js';
import { newOperatorToken } from '../../src/platform/kernel/operator-token.js';
import { Worker } from '../../src/platform/work/worker.js';
import { AdminClient, type Answer, Client } from './client.js';
import { leaveSession } from './sessions.js';
import { TestClock } from './test-clock.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';

export interface TestWorkspace {
  workspaceId: string;
  /** A client of the workspace's owner. */
  owner: Client;
}

export interface TestMember extends Client {
  memberId: string;
  token: string;
}

/** The real application over a database of its own, listening on a port of its own. */
export interface TestApp {
  app: NestExpressApplication;
  clock: TestClock;
  url: string;
  dataDir: string;
  database: TestDatabase;
  /** Each log line of the application so far. */
  logs: Record<string, unknown>[];
  /** The workspace and owner of the first run. */
  owner: Client;
  workspaceId: string;
  /** Rows, read as the owner of the database. */
  rows: <T = Record<string, unknown>>(sql: string, values?: unknown[]) => Promise<T[]>;
  createWorkspace(tier?: Tier): Promise<TestWorkspace>;
  createTeam(workspaceId: string, name: string): Promise<string>;
  createMember(workspaceId: string, role: Role, teamIds?: string[]): Promise<TestMember>;
  /** The admin area as this member, who has signed in a moment ago; as the first owner unless said. */
  signIn(memberId?: string): Promise<AdminClient>;
  close(): Promise<void>;
}

/** The application as main.ts makes it, except for the clock. */
async function createTestApplication(
  config: Config,
  databaseUrl: string,
  logs: DestinationStream,
  clock: Clock,
  beside: Type[],
): Promise<NestExpressApplication> {
  const imports = [await rootModule(config, databaseUrl, logs), ...beside];
  const module = Test.createTestingModule({ imports });
  const compiled = await module.overrideProvider(Clock).useValue(clock).compile();
  return initialise(compiled.createNestApplication<NestExpressApplication>(APPLICATION_OPTIONS), config);
}

/**
 * Connectors are checked when a test asks for it, and not amid what another test counts: whatever time later than now the
 * program sets for the next check becomes never.
 */
const CHECKED_ON_DEMAND = `
  create schema checks;
  create function checks.on_demand() returns trigger language plpgsql as $$
    begin
      if current_user <> (select pg_get_userbyid(relowner) from pg_class where oid = tg_relid)
        and new.next_check_at > now() then new.next_check_at := 'infinity'; end if;
      return new;
    end $$;
  create trigger on_demand before insert or update on connectors for each row execute function checks.on_demand()`;

/** The sweep for due work comes round each second by itself, and tests wait for it more often than for anything else. */
const SWEEP_EVERY_MS = 200;

/**
 * Starts the application, with modules of a test beside its own; `environment` are variables as in a shell. Limits are out of the way
 * unless asked for.
 */
export async function startTestApp(
  environment: Record<string, string> = {},
  beside: Type[] = [],
): Promise<TestApp> {
  const database = await createTestDatabase();
  await database.owner.query(CHECKED_ON_DEMAND);
  const dataDir = await mkdtemp(join(tmpdir(), 'consigliere-app-'));
  const token = newOperatorToken();
  const config = loadConfig({
    NODE_ENV: 'test',
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    BOOTSTRAP_TOKEN: token,
    BOOTSTRAP_TIER: 'enterprise',
    RATE_LIMIT_STORE: 'memory',
    // Tests call more often than one address may; each client names an address of its own.
    TRUST_PROXY: '1',
    PORT: '0',
    LOG_LEVEL: 'info',
    ...environment,
  });
  const logs: Record<string, unknown>[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      for (const line of chunk.toString().split('\n')) if (line) logs.push(JSON.parse(line));
      done();
    },
  });
  const clock = new TestClock();
  await clock.share(database.owner, new URL(database.url).pathname.slice(1));
  const app = await createTestApplication(config, database.url, sink, clock, beside);
  const server = (await app.listen(0, '127.0.0.1')) as Server;
  app.get(PublicAddress).listeningOn(server.address() as AddressInfo);
  const { url } = app.get(PublicAddress);
  const worker = app.get(Worker);
  const sweeps = setInterval(() => void worker.sweep(), SWEEP_EVERY_MS);
  const rows = async <T>(sql: string, values: unknown[] = []) =>
    (await database.owner.query(sql, values)).rows as T[];
  const [first] = await rows<{ workspace_id: string }>('select workspace_id from workspaces');

  const createMember = async (
    workspaceId: string,
    role: Role,
    teamIds: string[] = [],
  ): Promise<TestMember> => {
    const userId = newId('usr');
    const memberId = newId('mem');
    const memberToken = newOperatorToken();
    await rows('insert into users (user_id, email, display_name) values ($1, $2, $3)', [
      userId,
      `${userId}@example.com`,
      `${role} ${memberId.slice(-4)}`,
    ]);
    await rows('insert into members (member_id, workspace_id, user_id, role) values ($1, $2, $3, $4)', [
      memberId,
      workspaceId,
      userId,
      role,
    ]);
    for (const teamId of teamIds) {
      await rows(
        'insert into team_members (workspace_id, team_id, member_id, role) values ($1, $2, $3, $4)',
        [workspaceId, teamId, memberId, role === 'owner' ? 'admin' : role],
      );
    }
    await rows(
      'insert into tokens (token_id, workspace_id, member_id, name, token_hash, hint) values ($1, $2, $3, $4, $5, $6)',
      [newId('tok'), workspaceId, memberId, 'test', sha256(memberToken), memberToken.slice(-4)],
    );
    return Object.assign(new Client(url, memberToken), { memberId, token: memberToken });
  };

  return {
    app,
    clock,
    url,
    dataDir,
    database,
    logs,
    owner: new Client(url, token),
    workspaceId: first!.workspace_id,
    rows,
    createMember,
    async createWorkspace(tier = 'enterprise') {
      const workspaceId = newId('wks');
      await rows('insert into workspaces (workspace_id, name, tier) values ($1, $2, $3)', [
        workspaceId,
        `Workspace ${workspaceId.slice(-4)}`,
        tier,
      ]);
      return { workspaceId, owner: await createMember(workspaceId, 'owner') };
    },
    async createTeam(workspaceId, name) {
      const teamId = newId('team');
      await rows(
        'insert into teams (team_id, workspace_id, name, name_key, slug) values ($1, $2, $3, lower($3), $4)',
        [teamId, workspaceId, name, name.toLowerCase()],
      );
      return teamId;
    },
    async signIn(memberId) {
      const workspaceId = first!.workspace_id;
      return new AdminClient(url, await leaveSession(rows, { workspaceId, memberId }, clock.now()));
    },
    async close() {
      clearInterval(sweeps);
      await app.close();
      await database.drop();
      clock.end();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * Asks again until `done` holds; fails with the last answer after `seconds`. The pauses grow to a quarter of a second:
 * on a slow machine a question over HTTP would otherwise be refused for its number.
 */
export async function eventually<T>(
  ask: () => Promise<T>,
  done: (value: T) => boolean = Boolean,
  seconds = 30,
): Promise<T> {
  const until = Date.now() + seconds * 1000;
  for (let pause = 25; ; pause = Math.min(pause * 1.2, 250)) {
    const value = await ask();
    if (done(value)) return value;
    if (Date.now() > until) throw new Error(`not within ${seconds} s: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

export type { Answer };
