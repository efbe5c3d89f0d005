import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { createApplication } from '../src/application.js';
import { loadConfig } from '../src/platform/config/config.js';
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres/embedded-postgres.js';
import { newOperatorToken } from '../src/platform/kernel/operator-token.js';
import { call, quantile, timed } from './calls.js';
import { decide } from './decide.js';
import { growthRows } from './growth-rows.js';

/**
 * The reads that every client makes, at a size and at twice that size: `node dist/bench/growth.js [rows]`. What is flat
 * here does not grow with history. With `--never-analyzed` the tables are as autovacuum finds them before its first run.
 */

const rows = Number(process.argv.find((argument) => /^\d+$/.test(argument)) ?? 500_000);
const isAnalyzed = !process.argv.includes('--never-analyzed');
const CALLS = 20;
const WARM_UP = 8;
const BATCH = 50_000;

const READS = [
  '/bootstrap',
  '/agents',
  '/metrics',
  '/context',
  '/profile',
  '/guardian',
  '/approvals',
  '/approvals?status=approved',
  '/approvals?status=approved&offset=10000',
  '/approvals?status=all&offset=10000',
  '/approvals?status=expired&capo=capo_ops',
  '/questions?agent=bot',
  '/questions?agent=bot&status=answered',
  '/directives?limit=100',
  '/directives?offset=10000',
  '/directives?status=failed',
  '/directives?status=failed&capo=capo_ops',
  '/directives?capo=capo_product',
  '/work-packets?limit=100',
  '/work-packets?status=denied',
  '/work-packets?status=executed&capo=capo_ops',
  '/documents',
  '/standing-orders?limit=100',
  '/webhooks/whk_00000000000000000000000001/deliveries',
  '/partner/intelligence',
  '/feed',
  '/audit-feed?capo=capo_ops',
];

/** One for each number; two thirds are of one agent, and a third of these are answered. */
const QUESTIONS = `
  insert into approvals (approval_id, workspace_id, kind, round, status, ready, title, summary, priority, risk, reversibility, content_hash,
    requested_by, requested_at, expires_at, on_expiry, question_id, question, answer, question_token_id, question_agent)
  select 'apr_q' || lpad(n::text, 25, '0'), $1, 'question', 0, status, true, 'Question from bot', 'bot asks: Which plan?', 'medium', 'low',
    'read_only', md5(n::text), '{"type": "agent", "id": "tok_bot", "name": "bot"}', now() - n * interval '1 minute', now() + interval '1 day',
    'reject', 'qst_' || lpad(n::text, 26, '0'), json_build_object('title', 'Which plan?', 'tokenRootId', agent, 'agent', agent),
    case when status = 'approved' then '{"plan": "pro"}'::jsonb end, agent, agent
  from generate_series($2::int, $3::int) n cross join lateral (select case when n % 3 = 0 then 'another' else 'bot' end as agent,
    case when n % 500 = 0 then 'pending' when n % 9 < 3 then 'approved' else 'expired' end as status) each`;

const dataDir = await mkdtemp(join(tmpdir(), 'consigliere-growth-'));
await chmod(dataDir, 0o755);
const server = await startEmbeddedPostgres({
  dataDir,
  settings: {
    ...(process.argv.includes('--fast-load') && { fsync: 'off', full_page_writes: 'off' }),
    ...(!isAnalyzed && { autovacuum: 'off' }),
    max_wal_size: '4GB',
  },
  log: () => undefined,
});
try {
  await main();
} finally {
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
}

async function main(): Promise<void> {
  const token = newOperatorToken();
  const config = loadConfig({
    NODE_ENV: 'test',
    DATA_DIR: dataDir,
    DATABASE_URL: server.url,
    BOOTSTRAP_TOKEN: token,
    BOOTSTRAP_TIER: 'enterprise',
    RATE_LIMIT_STORE: 'memory',
    PROCESS_ROLE: 'api',
    TRUST_PROXY: '1',
    PORT: '0',
    LOG_LEVEL: 'error',
  });
  const { prepareDatabase } = await import('../src/platform/database/prepare-database.js');
  await prepareDatabase(server.url);
  const app = await createApplication(config, server.url);
  const listening = (await app.listen(0, '127.0.0.1')) as Server;
  const url = `http://127.0.0.1:${(listening.address() as AddressInfo).port}/api/pro`;
  const owner = new pg.Client({ connectionString: server.url });
  await owner.connect();
  const [workspace] = (await owner.query<{ workspace_id: string }>('select workspace_id from workspaces'))
    .rows;
  const workspaceId = workspace!.workspace_id;
  await owner.query('update receipt_heads set seq = 1000000');

  const measured: Record<string, string[]> = {};
  let filled = 0;
  for (const size of isAnalyzed ? [rows, 2 * rows] : [rows]) {
    await fill(owner, workspaceId, filled + 1, size);
    filled = size;
    const deep = await cursorOfThird(owner, url, token, workspaceId);
    const acts: [string, () => Promise<unknown>][] = READS.map((path) => [
      path,
      () => call(url + path, token),
    ]);
    acts.push(
      ['/directives?cursor= (a third of them passed)', () => call(`${url}/directives?cursor=${deep}`, token)],
      ['decision, 200 orders', () => decide(app, workspaceId)],
    );
    for (const [name, act] of acts) {
      try {
        await timed(WARM_UP, act);
        const times = await timed(CALLS, act);
        (measured[name] ??= []).push(
          `${quantile(times, 0.5).toFixed(1)} / ${quantile(times, 0.99).toFixed(1)}`,
        );
      } catch (error) {
        (measured[name] ??= []).push((error as Error).message.slice(-80));
      }
    }
  }
  await owner.end();
  await app.close();

  console.log(
    `${cpus()[0]?.model}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB; p50 / p99 in ms`,
  );
  console.log(`| read | ${rows} rows | ${isAnalyzed ? `${2 * rows} rows |` : ''}`);
  for (const [name, figures] of Object.entries(measured)) console.log(`| ${name} | ${figures.join(' | ')} |`);
}

/** The cursor that a reader has who has read a third of all directives; reading them all first would take an hour. */
async function cursorOfThird(
  owner: pg.Client,
  url: string,
  token: string,
  workspaceId: string,
): Promise<string> {
  const { nextCursor } = await call<{ nextCursor: string }>(`${url}/directives?limit=1`, token);
  const [list, at] = JSON.parse(Buffer.from(nextCursor, 'base64url').toString()) as unknown[];
  const { rows: found } = await owner.query<{ time: string; id: string }>(
    `select (extract(epoch from created_at) * 1000000)::bigint as time, directive_id as id from directives
     where workspace_id = $1 order by created_at desc
     offset (select count(*) / 3 from directives where workspace_id = $1) limit 1`,
    [workspaceId],
  );
  const { time, id } = found[0]!;
  return Buffer.from(JSON.stringify([list, at, Number(time), id])).toString('base64url');
}

async function fill(owner: pg.Client, workspaceId: string, from: number, to: number): Promise<void> {
  const began = performance.now();
  // References and triggers would be looked at row by row; the counters are made at once instead.
  await owner.query(`set session_replication_role = replica`);
  for (let first = from; first <= to; first += BATCH) {
    for (const { text } of growthRows({ workspaceId, from: first, to: Math.min(to, first + BATCH - 1) })) {
      await owner.query(text);
    }
    await owner.query(QUESTIONS, [workspaceId, first, Math.min(to, first + BATCH - 1)]);
  }
  await owner.query(`set session_replication_role = origin`);
  await owner.query('select app.recount_tallies()');
  await owner.query('checkpoint');
  if (isAnalyzed) await owner.query('vacuum analyze');
  console.error(`${to} rows a table after ${Math.round((performance.now() - began) / 1000)} s`);
}
