import pg from 'pg';
import type { PoolClient } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertIsolation } from '../../src/platform/database/replica.js';
import { loadConfig } from '../../src/platform/config/config.js';
import { createApplication } from '../../src/application.js';
import { isAdminPath } from '../../src/platform/http/admin-path.js';
import { RouteTable } from '../../src/platform/http/route-table.js';
import { newId } from '../../src/platform/kernel/ids.js';
import { newOperatorToken } from '../../src/platform/kernel/operator-token.js';
import { leaveActionRequest } from '../e2e/action-requests/action-request-rows.js';
import { leaveQuestion } from '../e2e/approvals/question-rows.js';
import { Desk, DOCUMENT } from '../e2e/directives/desk.js';
import { leaveChecked } from '../e2e/connector-health/connector-rows.js';
import { leavePack } from '../e2e/packs/pack-rows.js';
import { leaveNotification } from '../e2e/notifications/notification-rows.js';
import { PartnerDesk } from '../e2e/partner/partner-desk.js';
import { leaveReport, leaveReportMail, leaveSection } from '../e2e/reports/report-rows.js';
import { EscalationDesk } from '../e2e/escalations/escalation-desk.js';
import { SCHEDULE } from '../e2e/schedules/schedule-desk.js';
import { SignalDesk } from '../e2e/records/signal-desk.js';
import { leaveTool } from '../e2e/tools/tool-rows.js';
import { leaveDelivered } from '../e2e/webhooks/webhook-rows.js';
import { Client } from '../support/client.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { createTestDatabase } from '../support/test-database.js';

type Rows = Record<string, unknown>[];

/** A workspace with something in every place. */
interface Tenant {
  workspaceId: string;
  desk: Desk;
}

let test: TestApp;
let a: Tenant;
let b: Tenant;
/** Members of two teams of workspace A, and what belongs to the second team alone. */
let teamOne: Desk;
let teamTwo: Desk;
let teamTwoId: string;
let tables: string[];

let foldLock: PoolClient;
beforeAll(async () => {
  test = await startTestApp();
  tables = (
    await test.rows<{ name: string }>(
      `select c.relname as name from pg_class c
       join pg_attribute a on a.attrelid = c.oid and a.attname = 'workspace_id' and not a.attisdropped
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') order by 1`,
    )
  ).map(({ name }) => name);
  // Whoever has this lock keeps the tallies from being added up, which happens beside what is tested here.
  foldLock = await test.database.owner.connect();
  await foldLock.query(`select pg_advisory_lock(hashtextextended('fold tallies', 4))`);
  [a, b] = [await fill('A'), await fill('B')];
  // Some of it has been added up.
  await test.rows(
    `insert into tallies (workspace_id, team_id, kind, key, bucket, n, amount)
     select unnest($1::text[]), '', 'packets', 'none', '-infinity', 0, 0`,
    [[a.workspaceId, b.workspaceId]],
  );
  await test.rows(
    `insert into model_usage (workspace_id, day, amount, tokens) select unnest($1::text[]), '2026-02-18', 1, 1000`,
    [[a.workspaceId, b.workspaceId]],
  );
  await test.rows(
    `insert into model_charges (workspace_id, receipt_id, amount, currency, tokens_in, tokens_out, charged_at)
     select unnest($1::text[]), $2, 0.01, 'USD', 900, 120, now()`,
    [[a.workspaceId, b.workspaceId], newId('rcp')],
  );
  const teamOneId = await test.createTeam(a.workspaceId, 'One');
  teamTwoId = await test.createTeam(a.workspaceId, 'Two');
  teamOne = new Desk(test, (await test.createMember(a.workspaceId, 'operator', [teamOneId])).token);
  teamTwo = new Desk(test, (await test.createMember(a.workspaceId, 'operator', [teamTwoId])).token);
  await leaveWork(a.workspaceId, teamTwo, teamTwoId);
}, 60_000);
afterAll(async () => {
  foldLock.release(true);
  await test.close();
});

async function fill(name: string): Promise<Tenant> {
  const { workspaceId, owner } = await test.createWorkspace();
  const desk = new Desk(test, owner.token);
  await test.createMember(workspaceId, 'operator', [await test.createTeam(workspaceId, `${name} team`)]);
  // An order with a version, that counts what it lets through.
  await desk.client.post('/standing-orders', {
    name: 'Some documents',
    effect: 'allow',
    match: { actionTypes: ['document.file'] },
    limits: { maxPerDay: 100 },
  });
  await leaveWork(workspaceId, desk, null);
  await test.rows(
    `insert into suggestion_decisions (workspace_id, suggestion_id, decision, decided_by, decided_at)
     values ($1, $2, 'dismissed', '{}', now())`,
    [workspaceId, newId('sug')],
  );
  const skill = { name: 'A skill', targetEntityType: 'skill', targetEntityId: newId('req'), definition: {} };
  await desk.client.post('/evals/run', skill);
  await desk.client.post('/consigliere/chat', { message: 'What waits for me?' });
  await test.rows(
    `insert into chat_turns select workspace_id, member_id, $2, now() from members where workspace_id = $1 limit 1`,
    [workspaceId, newId('req')],
  );
  const { reportId } = (await desk.client.get('/family/report')).body;
  await desk.client.post('/family/comment', { reportId, body: 'The carrier was late.' });
  await leaveReportMail(test.rows, workspaceId, await leaveReport(test.rows, workspaceId));
  await leaveSection(test.rows, workspaceId);
  // A chain under a signed checkpoint, a capo that waits, a day that counts: rows that no route makes at once.
  await test.rows(`insert into paused_capos values ($1, 'capo_marketing', '{}', now())`, [workspaceId]);
  await test.rows(`insert into tier_days values ($1, current_date, 1)`, [workspaceId]);
  await test.rows(
    `insert into outside_attempts (workspace_id, work_packet_id, attempt, event) values ($1, $2, 1, 'begun')`,
    [workspaceId, newId('pkt')],
  );
  await test.rows(
    `insert into receipt_checkpoints select $1, 1, 'x', now(), key_id, 'x' from signing_keys on conflict do nothing`,
    [workspaceId],
  );
  // A session, and an act on an account that no work is going to record.
  await test.signIn((await test.createMember(workspaceId, 'viewer')).memberId);
  await test.rows(
    `insert into account_acts (act_id, workspace_id, member_id, action, details, at)
     select 'act_' || substr(member_id, 5), workspace_id, member_id, 'password.changed', '{}', now()
     from members where workspace_id = $1 limit 1`,
    [workspaceId],
  );
  // Work that nobody does, so that it stays.
  await test.rows(
    `insert into work_items (kind, id, workspace_id, queue, due_at) values ('test.wait', $2, $1, $1, 'infinity')`,
    [workspaceId, newId('req')],
  );
  await test.rows(
    `insert into work_breakers (kind, queue, workspace_id, opens_at, retry_every)
     values ('test.wait', $1, $1, 'infinity', '1 hour')`,
    [workspaceId],
  );
  // A buyer by an id that can be looked for.
  await (await PartnerDesk.of(test, workspaceId)).report({ customerEntitlementId: newId('mem') });
  await leavePack(test, workspaceId);
  await leaveTool(desk.client);
  await leaveActionRequest(desk.client);
  await leaveQuestion(desk.client);
  await leaveDelivered(test, workspaceId);
  await leaveNotification(test.rows, workspaceId);
  await leaveChecked(test, workspaceId);
  await desk.client.post('/api/local/hydrate', { deviceId: newId('req') });
  await test.rows(
    `insert into licences (workspace_id, licence_id, number, licence_key, tier, entitlements, issued_at, expires_at,
       installed_at, installed_by, tier_before, told_status)
     values ($1, $2, 1, 'x', 'enterprise', '{}', now(), now() + interval '1 year', now(), '{}', 'free', 'active')`,
    [workspaceId, newId('lic')],
  );
  await desk.client.post('/members', { email: `${newId('usr')}@example.com`, role: 'viewer' });
  await desk.client.post('/guardian/kill-switch');
  await desk.revert();
  await test.rows(
    `insert into revert_steps (workspace_id, revert_id, position, work_packet_id, reversibility, status)
     select workspace_id, revert_id, 1, $2, 'reversible', 'done' from reverts where workspace_id = $1`,
    [workspaceId, newId('pkt')],
  );
  await test.rows(
    `insert into workspace_exports (export_id, workspace_id, asked_by, started_at) values ($2, $1, '{}', now())`,
    [workspaceId, newId('exp')],
  );
  await test.rows(`insert into workspace_deletions values ($1, '{}', now(), 'infinity', false)`, [
    workspaceId,
  ]);
  return { workspaceId, desk };
}

/** One of each record: carried out, waiting, filed, raised, booked. */
async function leaveWork(workspaceId: string, desk: Desk, teamId: string | null): Promise<void> {
  const schedule = await desk.client.post('/schedules', {
    ...SCHEDULE,
    rule: { ...SCHEDULE.rule, every: 'month', on: 31 },
  });
  expect((await desk.client.post(`/schedules/${schedule.body.scheduleId}/run`)).status).toBe(201);
  const standingOrderId = newId('so');
  await test.rows(
    `insert into standing_orders (standing_order_id, workspace_id, team_id, name, text, status, effect, match, limits,
       hash, created_by, created_at, updated_at)
     values ($1, $2, $3, 'Documents', 'Documents.', 'active', 'allow', '{"actionTypes": ["document.file"]}',
       '{"maxPerDay": 100}', 'x', '{}', now(), now())`,
    [standingOrderId, workspaceId, teamId],
  );
  await test.rows(
    `insert into standing_order_versions (standing_order_id, workspace_id, team_id, version, name, text, effect, match,
       limits, hash, created_by, created_at)
     select standing_order_id, workspace_id, team_id, version, name, text, effect, match, limits, hash, created_by,
       created_at from standing_orders where standing_order_id = $1`,
    [standingOrderId],
  );
  const { body } = await desk.client.post('/directives', {
    directive: DOCUMENT,
    capo: 'capo_ops',
    requiresApproval: false,
  });
  await desk.until(body.directiveId, 'executed');
  await desk.handInReady();
  await new SignalDesk(test).raise({ teamId }, workspaceId);
  await new EscalationDesk(test, workspaceId).open({ teamId });
  await desk.client.post(
    '/revenue-events',
    { amount: 12, currency: 'EUR', source: 'shop' },
    { 'Idempotency-Key': newId('req') },
  );
}

/** Every id in the rows of these tables, by its prefix. */
async function ids(
  where: string,
  values: unknown[],
  from: readonly string[] = tables,
): Promise<Map<string, string[]>> {
  const found = new Map<string, Set<string>>();
  for (const table of from) {
    for (const row of await test.rows(`select * from ${table} where ${where}`, values)) {
      for (const [, id, prefix] of JSON.stringify(row).matchAll(/"(([a-z]+)_[0-9a-z]{26})"/g)) {
        found.set(prefix!, (found.get(prefix!) ?? new Set()).add(id!));
      }
    }
  }
  return new Map([...found].map(([prefix, all]) => [prefix, [...all]]));
}

/** All that is stored about work; what belongs to admission changes with every call. */
async function stored(): Promise<string> {
  const kept = tables.filter(
    (table) => !['idempotency_keys', 'tier_days', 'tokens', 'members', 'receipt_checkpoints'].includes(table),
  );
  const all = [];
  for (const table of kept) {
    const [row] = await test.rows<{ sum: string }>(
      `select md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as sum from ${table} t`,
    );
    all.push(`${table} ${row!.sum}`);
  }
  return all.join('\n');
}

const routes = () =>
  test.app
    .get(RouteTable)
    .entries.flatMap((entry) => entry.paths.map((path) => ({ ...entry, path })))
    .filter(({ policy, path }) => policy.auth === 'member' && !isAdminPath(path));

describe('the ids of others', () => {
  it('takes no foreign id in a body or a filter', async () => {
    const foreign = await ids('workspace_id = $1', [b.workspaceId]);
    const of = (prefix: string) => foreign.get(prefix)![0]!;
    const before = await stored();
    const { client } = a.desk;
    expect((await client.post('/ack', { signalId: of('sig') })).status).toBe(404);
    expect((await client.post('/directive', { text: 'x', teamId: of('team') })).status).toBe(404);
    expect(
      (await client.post('/directives', { directive: 'x', capo: 'ceo', teamId: of('team') })).status,
    ).toBe(404);
    const many = await client.post('/approvals', { approvalId: of('apr'), decision: 'approve' });
    expect(many.body.results[0].error.code).toBe('NOT_FOUND');
    for (const query of [
      `/directives?teamId=${of('team')}`,
      `/approvals?teamId=${of('team')}`,
      `/work-packets?directiveId=${of('dir')}`,
      `/audit-feed?entity=${of('dir')}`,
      `/audit-feed?teamId=${of('team')}`,
      `/audit-feed?actor=${of('mem')}`,
    ]) {
      const answer = await client.get(query);
      expect(answer.status).toBe(200);
      expect(answer.body.items, query).toEqual([]);
    }
    expect(await stored()).toBe(before);
  });
});

describe('lists and summaries', () => {
  const LISTING = () =>
    routes().filter(
      ({ method, path }) => method === 'GET' && !path.includes(':') && !path.endsWith('/stream'),
    );
  /** One of them reads what it is asked for. */
  const urlOf = (path: string, foreign: readonly string[]) =>
    path === '/api/pro/approvals/contents'
      ? `${path}?ids=${foreign.filter((id) => id.startsWith('apr_')).join(',')}`
      : path;

  it('hold nothing of another workspace', async () => {
    const foreign = [...(await ids('workspace_id = $1', [b.workspaceId])).values()].flat();
    expect(foreign.length).toBeGreaterThan(20);
    const paths = LISTING();
    expect(paths.length).toBeGreaterThan(8);
    for (const { path } of paths) {
      const { status, text } = await a.desk.client.get(urlOf(path, foreign));
      expect(status, path).toBe(200);
      for (const id of foreign) expect(text.includes(id), `${path} shows ${id}`).toBe(false);
    }
  });

  it('hold nothing of another team, nor of no team for a member of one', async () => {
    const recordsOf = (where: string, values: unknown[]) =>
      ids(where, values, [
        'directives',
        'work_packets',
        'approvals',
        'documents',
        'signals',
        'escalations',
        'standing_orders',
        'action_requests',
      ]);
    const WORK = ['dir', 'pkt', 'apr', 'doc', 'sig', 'esc', 'so', 'act'];
    const pick = (found: Map<string, string[]>) => WORK.flatMap((prefix) => found.get(prefix) ?? []);
    const foreign = [
      ...pick(await recordsOf('workspace_id = $1 and team_id = $2', [a.workspaceId, teamTwoId])),
      ...pick(await recordsOf('workspace_id = $1 and team_id is null', [a.workspaceId])),
    ];
    expect(foreign.length).toBeGreaterThan(10);
    for (const { path } of LISTING()) {
      const { status, text } = await teamOne.client.get(urlOf(path, foreign));
      expect([200, 403], path).toContain(status);
      for (const id of foreign) expect(text.includes(id), `${path} shows ${id}`).toBe(false);
    }
  });
});

/** Statements as the program's own role, with the settings of a scope and undone at the end. */
async function asApp<T>(
  settings: { workspaceId?: string; teamIds?: string },
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: test.database.url, options: '-c role=consigliere_app' });
  await client.connect();
  try {
    await client.query('begin');
    for (const [name, value] of [
      ['app.workspace_id', settings.workspaceId],
      ['app.team_ids', settings.teamIds],
    ] as const) {
      if (value !== undefined) await client.query('select set_config($1, $2, true)', [name, value]);
    }
    return await work(client);
  } finally {
    await client.query('rollback').catch(() => undefined);
    await client.end();
  }
}

/** One statement that may be refused, without ending the transaction. */
async function attempt(
  client: pg.Client,
  text: string,
): Promise<{ rows: Rows; count: number } | { refused: string }> {
  await client.query('savepoint one');
  try {
    const { rows, rowCount } = await client.query(text);
    return { rows, count: rowCount ?? 0 };
  } catch (error) {
    await client.query('rollback to savepoint one');
    return { refused: (error as { code?: string }).code ?? String(error) };
  }
}

describe('without any WHERE', () => {
  it('there is something of both workspaces in every tenant table', async () => {
    const empty: string[] = [];
    for (const table of tables) {
      const [row] = await test.rows<{ a: number; b: number }>(
        `select count(*) filter (where workspace_id = $1)::int as a, count(*) filter (where workspace_id = $2)::int as b
         from ${table}`,
        [a.workspaceId, b.workspaceId],
      );
      if (row!.a === 0 || row!.b === 0) empty.push(table);
    }
    // A table that nothing fills proves nothing below; name it here when it is added.
    expect(empty).toEqual([]);
  });

  it('a select of the program sees the own workspace alone', async () => {
    await asApp({ workspaceId: a.workspaceId, teamIds: '*' }, async (client) => {
      for (const table of tables) {
        const { rows } = await client.query(`select * from ${table}`);
        expect(rows.length, table).toBeGreaterThan(0);
        expect(new Set(rows.map((row) => row.workspace_id)), table).toEqual(new Set([a.workspaceId]));
      }
      const { rows: users } = await client.query(
        'select user_id from users where not exists (select 1 from members m where m.user_id = users.user_id)',
      );
      expect(users).toEqual([]);
    });
  });

  it.each([
    ['no settings', {}],
    ['empty settings', { workspaceId: '', teamIds: '' }],
    ['all teams of no workspace', { workspaceId: '', teamIds: '*' }],
    ['all teams and no workspace', { teamIds: '*' }],
    ['a workspace that does not exist', { workspaceId: newId('wks'), teamIds: '*' }],
  ])('with %s nothing comes back at all', async (_what, settings) => {
    await asApp(settings, async (client) => {
      for (const table of [...tables, 'users']) {
        const columns = table === 'users' ? 'user_id' : '*';
        expect((await client.query(`select ${columns} from ${table}`)).rows, table).toEqual([]);
      }
    });
  });

  it('a team sees its own rows, and none with no team or of another team', async () => {
    const byTeam = (
      await test.rows<{ name: string }>(
        `select tablename as name from pg_policies where schemaname = 'public' and qual like '%app.team_ids%'`,
      )
    ).map(({ name }) => name);
    expect(byTeam).toEqual(
      expect.arrayContaining(['directives', 'work_packets', 'approvals', 'signals', 'documents', 'receipts']),
    );
    // Sums of what partners report have no team, and belong to every member.
    const sharing: Record<string, string> = {
      tallies: `kind = 'partner'`,
      tally_notes: `team_id = '*'`,
    };
    const teams = async (teamIds: string) =>
      asApp({ workspaceId: a.workspaceId, teamIds }, async (client) => {
        const seen = new Set<unknown>();
        for (const table of byTeam) {
          const { rows } = await client.query(
            `select nullif(team_id, '') as team_id from ${table} where not (${sharing[table] ?? 'false'})`,
          );
          for (const row of rows) seen.add(row.team_id);
        }
        return seen;
      });
    expect(await teams(teamTwoId)).toEqual(new Set([teamTwoId]));
    expect(await teams('')).toEqual(new Set([null]));
    expect(await teams(newId('team'))).toEqual(new Set());
    expect((await teams('*')).size).toBeGreaterThanOrEqual(2);
  });

  it('an update or delete touches the own rows alone, or is refused', async () => {
    const foreign = (table: string) =>
      test.rows(`select md5(t::text) as sum from ${table} t where workspace_id <> $1 order by 1`, [
        a.workspaceId,
      ]);
    for (const table of tables) {
      const before = await foreign(table);
      // The program signs other chains meanwhile.
      const unchanged = table === 'receipt_checkpoints' ? expect.arrayContaining(before) : before;
      const [{ own }] = (await test.rows<{ own: number }>(
        `select count(*)::int as own from ${table} where workspace_id = $1`,
        [a.workspaceId],
      )) as [{ own: number }];
      const client = new pg.Client({
        connectionString: test.database.url,
        options: '-c role=consigliere_app',
      });
      await client.connect();
      await client.query('begin');
      await client.query(
        `select set_config('app.workspace_id', $1, true), set_config('app.team_ids', '*', true)`,
        [a.workspaceId],
      );
      for (const text of [
        `update ${table} set workspace_id = workspace_id`,
        `update ${table} set workspace_id = '${b.workspaceId}'`,
        `delete from ${table}`,
        `truncate ${table}`,
      ]) {
        const outcome = await attempt(client, text);
        // 42501: no privilege, or a row that the policy does not let be written.
        if ('refused' in outcome)
          expect(['42501', '23503', '23001'], `${text}: ${outcome.refused}`).toContain(outcome.refused);
        else {
          expect(text.includes(b.workspaceId), text).toBe(false);
          expect(outcome.count, text).toBeLessThanOrEqual(own);
        }
      }
      await client.query('rollback');
      await client.end();
      expect(await foreign(table), table).toEqual(unchanged);
    }
  });

  it('an insert for another workspace is refused', async () => {
    await asApp({ workspaceId: a.workspaceId, teamIds: '*' }, async (client) => {
      for (const table of tables) {
        const columns = await test.rows<{ name: string }>(
          `select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
          [table],
        );
        const [row] = await test.rows<{ copy: string }>(
          `select to_json(t)::text as copy from ${table} t where workspace_id = $1 limit 1`,
          [b.workspaceId],
        );
        const copy = row!.copy.replaceAll("'", "''");
        const names = columns.map(({ name }) => `"${name}"`).join(', ');
        const outcome = await attempt(
          client,
          `insert into ${table} (${names}) select ${names} from json_populate_record(null::${table}, '${copy}')`,
        );
        expect(outcome, table).toEqual({ refused: '42501' });
      }
    });
  });
});

describe('receipts', () => {
  it.each([
    'update receipts set body = body',
    'delete from receipts',
    'truncate receipts',
    'update receipt_checkpoints set hash = hash',
    'delete from receipt_checkpoints',
    'update receipt_heads set seq = 0',
    'delete from receipt_heads',
    'alter table receipts disable trigger all',
    'drop policy isolation on receipts',
    'set session_replication_role = replica',
  ])('the program cannot: %s', async (text) => {
    await asApp({ workspaceId: a.workspaceId, teamIds: '*' }, async (client) => {
      expect(await attempt(client, text)).toEqual({ refused: '42501' });
    });
  });

  it.each([
    [
      'receipts',
      `insert into receipts (workspace_id, seq, receipt_id, at, actor_type, actor_id, action, entity_type, entity_id,
         body, prev_hash, hash)
       select workspace_id, seq + 1, 'rcp_x', now(), 'system', 'x', 'x', 'x', 'x', '{}', hash, repeat('a', 64)
       from receipt_heads`,
    ],
    ['receipt_heads', `insert into receipt_heads (workspace_id) values ('wks_x')`],
    [
      'receipt_checkpoints',
      `insert into receipt_checkpoints select workspace_id, 0, '', now(), 'x', '' from receipt_heads`,
    ],
    [
      'signing_keys',
      `insert into signing_keys (key_id, public_key, sealed_private_key) values ('x', 'x', 'x')`,
    ],
  ])('are written through functions only: the program cannot insert into %s', async (_table, text) => {
    await asApp({ workspaceId: a.workspaceId, teamIds: '*' }, async (client) => {
      expect(await attempt(client, text)).toEqual({ refused: '42501' });
      await client.query('commit');
    });
    // A row behind the head would have made every later act fail, since its number is taken.
    const { status } = await a.desk.client.post('/directives', { directive: DOCUMENT, capo: 'capo_ops' });
    expect(status).toBe(201);
  });

  it('of another workspace than the transaction’s are refused by the function that writes them', async () => {
    await asApp({ workspaceId: a.workspaceId, teamIds: '*' }, async (client) => {
      for (const act of [
        { receipts: [{ body: '{}', receiptId: 'rcp_x', at: 0, actorType: 'system' }] },
        { answer: { memberId: 'mem_x', key: 'x' } },
      ]) {
        const text = JSON.stringify({ workspaceId: b.workspaceId, ...act });
        expect(await attempt(client, `select app.finish('${text}')`)).toEqual({ refused: '42501' });
      }
    });
  });

  it.each([
    ['of a receipt that is not there', `$1, (select max(seq) + 1 from receipts), repeat('0', 64)`],
    ['with another hash than the receipt has', `$1, 1, repeat('0', 64)`],
    ['of another workspace', `$2, 1, (select hash from receipts where seq = 1)`],
  ])('a checkpoint %s is refused', async (_what, point) => {
    await asApp({ workspaceId: a.workspaceId, teamIds: '*' }, async (client) => {
      const given = point.replace('$1', `'${a.workspaceId}'`).replace('$2', `'${b.workspaceId}'`);
      const text = `select app.add_checkpoint(${given}, now(), (select min(key_id) from signing_keys), 'x')`;
      expect(await attempt(client, text)).toEqual({ refused: '42501' });
    });
  });

  it('not even the owner of the database changes one by accident', async () => {
    for (const text of ['update receipts set body = body', 'delete from receipts', 'truncate receipts']) {
      await expect(test.rows(text)).rejects.toMatchObject({ code: '23001' });
    }
  });
});

describe('the catalogue', () => {
  it('forces row-level security, with a policy on the workspace, on every table that has one', async () => {
    const rows = await test.rows<{ name: string; forced: boolean; policies: string[] }>(
      `select c.relname as name, c.relrowsecurity and c.relforcerowsecurity as forced,
         array(select p.qual from pg_policies p where p.schemaname = 'public' and p.tablename = c.relname
           and p.roles = '{public}' and p.qual is not null) as policies
       from pg_class c where c.relnamespace = 'public'::regnamespace and c.relname = any($1)`,
      [tables],
    );
    expect(rows.length).toBe(tables.length);
    expect(tables.length).toBeGreaterThanOrEqual(20);
    for (const { name, forced, policies } of rows) {
      expect(forced, name).toBe(true);
      expect(policies.length, name).toBeGreaterThan(0);
      for (const policy of policies) expect(policy, name).toContain('app.workspace_id');
    }
  });

  it("knows the program's role as one that owns nothing, bypasses nothing and logs in nowhere", async () => {
    const roles = await test.rows(
      `select rolname, rolsuper, rolbypassrls, rolcanlogin, rolcreaterole, rolcreatedb,
         (select count(*)::int from pg_class where relowner = r.oid) as owns,
         (select count(*)::int from pg_auth_members where member = r.oid) as member_of
       from pg_roles r where rolname in ('consigliere_app', 'consigliere_system') order by rolname`,
    );
    const harmless = {
      rolsuper: false,
      rolbypassrls: false,
      rolcanlogin: false,
      rolcreaterole: false,
      rolcreatedb: false,
    };
    expect(roles).toEqual([
      { rolname: 'consigliere_app', ...harmless, owns: 0, member_of: 0 },
      { rolname: 'consigliere_system', ...harmless, owns: 0, member_of: 0 },
    ]);
  });

  it('lets the program read no table but its own, and no password', async () => {
    await asApp({ workspaceId: a.workspaceId, teamIds: '*' }, async (client) => {
      for (const text of [
        'select * from sql_functions',
        'select * from database_identity',
        'select * from revocation_lists',
        'select password_hash from users',
        'select * from users',
        'select * from migrations',
        'select * from user_identities',
        `insert into user_identities (issuer, subject, user_id) select 'https://evil.example', 'me', user_id from users`,
        'delete from oidc_spent_states',
        'select rolpassword from pg_authid',
      ]) {
        expect(await attempt(client, text), text).toEqual({ refused: '42501' });
      }
    });
  });
});

describe('the program refuses to start', () => {
  const start = async (sql: string) => {
    const database = await createTestDatabase();
    try {
      await database.owner.query(sql);
      const config = loadConfig({
        NODE_ENV: 'test',
        DATABASE_URL: database.url,
        BOOTSTRAP_TOKEN: newOperatorToken(),
        DATA_DIR: test.dataDir,
        LOG_LEVEL: 'silent',
      });
      const app = await createApplication(config, database.url);
      await app.close();
      return 'it started';
    } catch (error) {
      return String(error);
    } finally {
      await database.drop();
    }
  };

  it.each([
    ['no longer forced', 'alter table directives no force row level security', 'directives'],
    ['switched off', 'alter table approvals disable row level security', 'approvals'],
    ['missing on a new table', 'create table leads (workspace_id text)', 'leads'],
  ])('when row-level security is %s', async (_what, sql, table) => {
    expect(await start(sql)).toMatch(new RegExp(`Workspaces are not isolated.*${table}`));
  });

  it.each([
    ['dropped', 'drop policy isolation on directives'],
    ['joined by one that lets everything pass', 'create policy open on directives using (true)'],
    ['another', 'alter policy isolation on signals using (true)'],
  ])('when the policy is %s', async (_what, sql) => {
    expect(await start(sql)).toMatch(/Workspaces are not isolated/);
  });

  it("when the program's role could bypass it", async () => {
    // Roles belong to the whole server: the change is never committed, so no other test sees it.
    for (const change of ['alter role consigliere_app bypassrls', 'alter role consigliere_app superuser']) {
      const client = new pg.Client({ connectionString: test.database.url });
      await client.connect();
      await client.query('begin');
      await client.query(change);
      await client.query('set local role consigliere_app');
      const dataSource = {
        query: async (text: string, values: unknown[]) => (await client.query(text, values)).rows,
      };
      await expect(assertIsolation(dataSource as never)).rejects.toThrow('can bypass row-level security');
      await client.query('rollback');
      await client.end();
    }
  });

  it('when it works as another role', async () => {
    const dataSource = { query: (text: string, values: unknown[]) => test.rows(text, values) };
    await expect(assertIsolation(dataSource as never)).rejects.toThrow('does not work as consigliere_app');
  });
});

it('a token of one workspace opens no other, whatever else the request says', async () => {
  const headers = { 'x-workspace-id': b.workspaceId, 'X-Forwarded-Host': b.workspaceId };
  const answer = await new Client(test.url, a.desk.token).get(`/directives?limit=100`, headers);
  const foreign = (await ids('workspace_id = $1', [b.workspaceId], ['directives'])).get('dir')!;
  for (const id of foreign) expect(answer.text).not.toContain(id);
});
