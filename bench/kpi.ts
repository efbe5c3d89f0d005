import type pg from 'pg';
import { newId } from '../src/platform/kernel/ids.js';
import { call, timed } from './calls.js';
import { start } from './processes.js';
import { isQuick } from './size.js';
import { asOwner, createWorkspaces, type Workspace } from './workspaces.js';

/** The mid-sized workspace of the promise, and how much larger the other is. */
const MIDDLE = isQuick
  ? { receipts: 5_000, revenue: 30_000, packets: 15_000, evals: 1_000 }
  : { receipts: 1_000_000, revenue: 200_000, packets: 100_000, evals: 5_000 };
export const LARGER = 10;
const TEAMS = 5;
const CALLS = isQuick ? 40 : 300;
const WARM_UP = 20;
const AT_ONCE = 100_000;

interface Sized extends Workspace {
  teamId: string;
}

/** Milliseconds of each call, by what is asked for: of the mid-sized workspace, and of the larger one. */
export type KpiTimes = Record<string, { middle: number[]; larger: number[] }>;

/** `GET /kpi` in two workspaces of a year each; they take turns, so that whatever else the machine does falls on both. */
export async function measureKpi(environment: Record<string, string>): Promise<KpiTimes> {
  const url = environment['DATABASE_URL']!;
  const [middle, larger] = await asOwner(url, (owner) => prepare(owner));
  const service = await start('../src/main.js', {
    ...environment,
    PROCESS_ROLE: 'api',
    RATE_LIMIT_STORE: 'memory',
  });
  try {
    const kpi = ({ token }: Sized, query = '') => call(`${service.url}/api/pro/kpi${query}`, token);
    const times: KpiTimes = {
      'GET /kpi': await inTurns(middle, larger, (workspace) => kpi(workspace)),
      'GET /kpi?teamId=': await inTurns(middle, larger, (workspace) =>
        kpi(workspace, `?teamId=${workspace.teamId}`),
      ),
    };
    // What the figures are kept for instead of.
    await asOwner(url, async (owner) => {
      times['one tile of the six, counted from its rows'] = await inTurns(middle, larger, ({ workspaceId }) =>
        owner.query(BY_ROWS, [workspaceId]),
      );
    });
    return times;
  } finally {
    await service.stop();
  }
}

const BY_ROWS = `select (occurred_at at time zone 'Asia/Kolkata')::date, sum(amount) from revenue_events
  where workspace_id = $1 and occurred_at > now() - interval '31 days' and currency = 'USD' group by 1`;

async function inTurns(middle: Sized, larger: Sized, act: (workspace: Sized) => Promise<unknown>) {
  const times = { middle: [] as number[], larger: [] as number[] };
  for (const workspace of [middle, larger]) await timed(WARM_UP, () => act(workspace));
  for (let round = 0; round < CALLS; round++) {
    times.middle.push(...(await timed(1, () => act(middle))));
    times.larger.push(...(await timed(1, () => act(larger))));
  }
  return times;
}

async function prepare(owner: pg.Client): Promise<[Sized, Sized]> {
  const workspaces = await createWorkspaces(owner, 2);
  const sized: Sized[] = [];
  // References and triggers would be looked at row by row; the figures are made at once instead.
  await owner.query('set session_replication_role = replica');
  for (const [index, workspace] of workspaces.entries()) {
    const { workspaceId } = workspace;
    await owner.query(`update workspaces set timezone = 'Asia/Kolkata' where workspace_id = $1`, [
      workspaceId,
    ]);
    const teams = Array.from({ length: TEAMS }, () => newId('team'));
    for (const [number, teamId] of teams.entries()) {
      await owner.query(
        'insert into teams (workspace_id, team_id, name, name_key, slug) values ($1, $2, $3, $3, $3)',
        [workspaceId, teamId, `team-${number}`],
      );
    }
    const times = index === 0 ? 1 : LARGER;
    for (const [table, rows] of Object.entries(MIDDLE)) {
      for (let from = 1; from <= rows * times; from += AT_ONCE) {
        const values = [workspaceId, teams, rows * times, from, Math.min(rows * times, from + AT_ONCE - 1)];
        for (const text of ROWS[table as keyof typeof ROWS]) await owner.query(text, values);
      }
    }
    sized.push({ ...workspace, teamId: teams[0]! });
  }
  await owner.query('set session_replication_role = origin');
  await owner.query('select app.recount_tallies()');
  await owner.query('vacuum analyze');
  return sized as [Sized, Sized];
}

const AT = `now() - (n::float8 / $3) * interval '365 days'`;
const TEAM = `($2::text[])[1 + n % (array_length($2::text[], 1) + 1)]`;
const EACH = 'from generate_series($4::int, $5::int) n';
const id = (prefix: string) => `'${prefix}_' || md5($1 || n)`;

/** Rows of a year, evenly spread over it and over the teams. */
const ROWS: Record<keyof typeof MIDDLE, string[]> = {
  receipts: [
    `insert into receipts (workspace_id, seq, receipt_id, at, actor_type, actor_id, action, entity_type, entity_id, team_id,
       body, prev_hash, hash)
     select $1, 1000 + n, ${id('rcp')}, ${AT}, 'member', 'mem', 'directive.created', 'directive', 'dir', ${TEAM},
       '{"summary":"' || repeat('x', 200) || '"}', md5(n::text), md5((n + 1)::text) ${EACH}`,
  ],
  revenue: [
    `insert into revenue_events (event_id, workspace_id, team_id, amount, currency, source, occurred_at, recorded_by, created_at)
     select ${id('rev')}, $1, ${TEAM}, 10.5 + n % 100, case when n % 10 = 0 then 'EUR' else 'USD' end, 'shop', ${AT}, '{}', ${AT}
     ${EACH}`,
  ],
  packets: [
    `insert into directives (directive_id, workspace_id, team_id, text, capo, routed_by, priority, requires_approval, context,
       status, cost, created_by, created_at, started_at)
     select ${id('dir')}, $1, ${TEAM}, 'x', 'capo_ops', 'operator', 'medium', true, '{}', 'executed',
       jsonb_build_object('amount', 0.0125, 'currency', 'USD'), '{}', ${AT}, ${AT} ${EACH}`,
    `insert into approvals (approval_id, workspace_id, team_id, directive_id, capo, kind, round, status, ready, title, summary,
       priority, risk, reversibility, requested_by, requested_at, expires_at, on_expiry, decided_at)
     select ${id('apr')}, $1, ${TEAM}, ${id('dir')}, 'capo_ops', 'output', 0,
       case when n % 1000 = 0 then 'pending' else 'approved' end, true, 't', 's', 'medium', 'low', 'reversible', '{}', ${AT},
       'infinity', 'reject', case when n % 1000 <> 0 then ${AT} + interval '5 minutes' end ${EACH}`,
    `insert into work_packets (work_packet_id, workspace_id, team_id, directive_id, position, capo, engine, title, kind,
       action_type, params, reversibility, status, leverage_score, multipliers, rationale, created_at, executed_at)
     select ${id('pkt')}, $1, ${TEAM}, ${id('dir')}, 0, 'capo_ops', 'ops', 'x', 'document', 'document.file', '{}', 'reversible',
       'executed', 1, '{}', 'x', ${AT}, ${AT} ${EACH}`,
  ],
  evals: [
    `insert into eval_runs (workspace_id, eval_run_id, team_id, name, kind, target_entity_type, target_entity_id, occasion,
       status, score, threshold, passed, findings, findings_omitted, duration_ms, created_by, created_at, receipt_id)
     select $1, ${id('evl')}, ${TEAM}, 'x', 'skill_definition_syntax', 'skill', 'x', 'request', 'completed', 1, 0.8,
       n % 7 <> 0, '[]', 0, 1, '{}', ${AT}, 'x' ${EACH}`,
  ],
};
