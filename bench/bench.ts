import { chmod, mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres/embedded-postgres.js';
import { sha256 } from '../src/platform/kernel/canonical-json.js';
import { newId } from '../src/platform/kernel/ids.js';
import { newOperatorToken } from '../src/platform/kernel/operator-token.js';
import { measureApprovals } from './approvals.js';
import { measureAuditPages } from './audit-pages.js';
import { quantile } from './calls.js';
import { type DeliveryFigures, measureDeliveries } from './deliveries.js';
import { start } from './processes.js';

/**
 * Measures the service against bare handlers over the same database, in one run and in alternating rounds, so that a
 * slow moment of the machine falls on both. The ratios are the result; the figures say on what machine.
 */

const WORKSPACES = 16;
const CLIENTS = 16;
const ROUNDS = 5;
const ROUND_MS = 2_000;
const WARM_UP_MS = 1_500;
const TEXT = 'Email jane@acme.example and tell her that her order ships on Friday.';
let address = 0;

interface Load {
  perSecond: number;
  /** Milliseconds of each request. */
  latencies: number[];
}

const dataDir = await mkdtemp(join(tmpdir(), 'consigliere-bench-'));
await chmod(dataDir, 0o755);
try {
  await main();
} finally {
  await rm(dataDir, { recursive: true, force: true });
}

async function main(): Promise<void> {
  const starts = await measureStarts();
  await withDatabase('load', async (environment) => {
    // Workers draft what is handed in; here only the handing in is measured.
    const api = await start('../src/main.js', {
      ...environment,
      PROCESS_ROLE: 'api',
      RATE_LIMIT_STORE: 'memory',
    });
    const bare = await start('bare-handlers.js', environment);
    const url = environment['DATABASE_URL']!;
    const tokens = await createWorkspaces(url, WORKSPACES);
    const results = {
      'POST /directive, 16 workspaces': await compare(api.url, bare.url, 'directive', tokens),
      'POST /directive, one workspace': await compare(api.url, bare.url, 'directive', tokens.slice(0, 1)),
      // A workspace that has been worked in, as the planner knows it after a minute.
      'GET /context': await analyzed(url).then(() =>
        compare(api.url, bare.url, 'context', tokens.slice(0, 1)),
      ),
    };
    report(results, await alone(api.url, bare.url, tokens[0]!), starts);
    await bare.stop();
    await api.stop();
  });
  // A database of their own: here workers work, and find nothing to do but what is measured.
  await withDatabase('work', async (environment) => {
    const first = await start('../src/main.js', environment);
    await first.stop();
    const [one, two, three] = (await createWorkspaces(environment['DATABASE_URL']!, 3)) as [
      string,
      string,
      string,
    ];
    reportDeliveries(await measureDeliveries(environment, one));
    reportTimes('one at a time', {
      'POST /approvals/{id}/approve': await measureApprovals(environment, two),
    });
    reportTimes('audit page of 50 among 1,000,000', await measureAuditPages(environment, three));
  });
}

/** A server of its own for `work`, and the environment of a service that uses it. */
async function withDatabase(
  name: string,
  work: (environment: Record<string, string>) => Promise<void>,
): Promise<void> {
  const server = await startEmbeddedPostgres({
    dataDir: join(dataDir, name),
    // For the time from a COMMIT to its delivery.
    settings: { track_commit_timestamp: 'on' },
    log: () => undefined,
  });
  const breakOff = () => void server.stop().then(() => process.exit(130));
  process.on('SIGINT', breakOff).on('SIGTERM', breakOff);
  try {
    await work({
      DATABASE_URL: server.url,
      DATA_DIR: join(dataDir, name),
      BOOTSTRAP_TIER: 'enterprise',
    });
  } finally {
    process.off('SIGINT', breakOff).off('SIGTERM', breakOff);
    await server.stop();
  }
}

/** First start (with initdb and migrations), second start, and what it holds when idle. */
async function measureStarts(): Promise<{ firstMs: number; secondMs: number; idleMb: number }> {
  const environment = { DATABASE_URL: '', DATA_DIR: join(dataDir, 'start') };
  const first = await start('../src/main.js', environment);
  await first.stop();
  const second = await start('../src/main.js', environment);
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  const idleMb = second.residentMb();
  await second.stop();
  return { firstMs: first.readyMs, secondMs: second.readyMs, idleMb };
}

async function createWorkspaces(url: string, count: number): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const tokens: string[] = [];
  for (let index = 0; index < count; index++) {
    const [workspaceId, userId, memberId] = [newId('wks'), newId('usr'), newId('mem')];
    const token = newOperatorToken();
    await client.query('insert into workspaces (workspace_id, name, tier) values ($1, $2, $3)', [
      workspaceId,
      `bench ${index}`,
      'enterprise',
    ]);
    await client.query('insert into users (user_id, email, display_name) values ($1, $2, $3)', [
      userId,
      `${userId}@example.com`,
      'Bench',
    ]);
    await client.query(
      'insert into members (member_id, workspace_id, user_id, role) values ($1, $2, $3, $4)',
      [memberId, workspaceId, userId, 'owner'],
    );
    await client.query(
      'insert into tokens (token_id, workspace_id, member_id, name, token_hash, hint) values ($1, $2, $3, $4, $5, $6)',
      [newId('tok'), workspaceId, memberId, 'bench', sha256(token), token.slice(-4)],
    );
    tokens.push(token);
  }
  await client.end();
  return tokens;
}

async function analyzed(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('analyze');
  await client.end();
}

/** Rounds of one and the other in turn; the medians of the rounds. */
async function compare(service: string, bare: string, route: string, tokens: readonly string[]) {
  await load(service, route, tokens, CLIENTS, WARM_UP_MS);
  await load(bare, route, tokens, CLIENTS, WARM_UP_MS);
  const ours: Load[] = [];
  const theirs: Load[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    ours.push(await load(service, route, tokens, CLIENTS, ROUND_MS));
    theirs.push(await load(bare, route, tokens, CLIENTS, ROUND_MS));
  }
  return { ours, theirs };
}

/** One client at a time: what a single caller waits. */
async function alone(service: string, bare: string, token: string) {
  const result: Record<string, { ours: number; theirs: number }> = {};
  for (const route of ['directive', 'context']) {
    await load(service, route, [token], 1, WARM_UP_MS);
    const ours = await load(service, route, [token], 1, ROUND_MS);
    await load(bare, route, [token], 1, WARM_UP_MS);
    const theirs = await load(bare, route, [token], 1, ROUND_MS);
    result[route] = { ours: median(ours.latencies), theirs: median(theirs.latencies) };
  }
  return result;
}

async function load(
  url: string,
  route: string,
  tokens: readonly string[],
  clients: number,
  forMs: number,
): Promise<Load> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: clients });
  const latencies: number[] = [];
  const until = performance.now() + forMs;
  let sent = 0;
  const client = async () => {
    while (performance.now() < until) {
      const began = performance.now();
      await request(agent, url, route, tokens[sent % tokens.length]!, sent++);
      latencies.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  agent.destroy();
  return { perSecond: latencies.length / (forMs / 1000), latencies };
}

function request(agent: http.Agent, url: string, route: string, token: string, n: number): Promise<void> {
  const posts = route === 'directive';
  const body = posts ? JSON.stringify({ text: TEXT }) : '';
  // A new address each time: the limits count, and let everyone pass.
  const next = address++;
  const headers = {
    'x-service-token': token,
    'x-forwarded-for': `10.${(next >> 16) & 255}.${(next >> 8) & 255}.${next & 255}`,
    ...(posts && {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'idempotency-key': `bench-${next}-${n}`,
    }),
  };
  return new Promise((resolve, reject) => {
    const sent = http.request(
      `${url}/api/pro/${route}`,
      { method: posts ? 'POST' : 'GET', agent, headers },
      (answer) => {
        answer.resume();
        answer.on('end', () =>
          answer.statusCode! < 300 ? resolve() : reject(new Error(`${route} answered ${answer.statusCode}`)),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

function median(numbers: readonly number[]): number {
  return quantile(numbers, 0.5);
}

function report(
  results: Record<string, { ours: Load[]; theirs: Load[] }>,
  single: Record<string, { ours: number; theirs: number }>,
  starts: { firstMs: number; secondMs: number; idleMb: number },
): void {
  const machine = `${cpus().length} x ${cpus()[0]!.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.version}`;
  console.log(
    `\n${machine}; ${CLIENTS} clients, medians of ${ROUNDS} alternating rounds of ${ROUND_MS / 1000} s\n`,
  );
  console.log('| what | service /s | bare /s | ratio | service p50 ms | bare p50 ms |');
  console.log('|---|---:|---:|---:|---:|---:|');
  for (const [what, { ours, theirs }] of Object.entries(results)) {
    const [a, b] = [ours, theirs].map((rounds) => median(rounds.map((round) => round.perSecond)));
    const [la, lb] = [ours, theirs].map((rounds) => median(rounds.flatMap((round) => round.latencies)));
    console.log(
      `| ${what} | ${a!.toFixed(0)} | ${b!.toFixed(0)} | ${(a! / b!).toFixed(2)} | ${la!.toFixed(1)} | ${lb!.toFixed(1)} |`,
    );
  }
  console.log('\n| one client alone | service p50 ms | bare p50 ms | ratio |\n|---|---:|---:|---:|');
  for (const [route, { ours, theirs }] of Object.entries(single)) {
    console.log(`| ${route} | ${ours.toFixed(2)} | ${theirs.toFixed(2)} | ${(ours / theirs).toFixed(2)} |`);
  }
  console.log('\n| start | |\n|---|---:|');
  console.log(`| ready, first time | ${(starts.firstMs / 1000).toFixed(2)} s |`);
  console.log(`| ready, after that | ${(starts.secondMs / 1000).toFixed(2)} s |`);
  console.log(`| idle, resident, without the database | ${starts.idleMb.toFixed(0)} MB |`);
}

function reportDeliveries({ commitToBytes, perSecond, lateness }: DeliveryFigures): void {
  console.log('\n| deliveries | p50 | p99 |\n|---|---:|---:|');
  console.log(
    `| from the COMMIT to the last byte, idle, ms | ${commitToBytes.p50.toFixed(1)} | ${commitToBytes.p99.toFixed(1)} |`,
  );
  for (const [wait, { least, p99 }] of Object.entries(lateness)) {
    console.log(`| late after a wait of ${wait}, ms (least ${least.toFixed(1)}) | | ${p99.toFixed(1)} |`);
  }
  console.log('\n| deliveries per second | |\n|---|---:|');
  console.log(`| one destination | ${perSecond.one.toFixed(0)} |`);
  console.log(`| eight destinations | ${perSecond.eight.toFixed(0)} |`);
}

function reportTimes(title: string, times: Record<string, number[]>): void {
  console.log(`\n| ${title} | p50 ms | p99 ms |\n|---|---:|---:|`);
  for (const [what, each] of Object.entries(times)) {
    console.log(`| ${what} | ${quantile(each, 0.5).toFixed(2)} | ${quantile(each, 0.99).toFixed(2)} |`);
  }
}
