import { expect, it } from 'vitest';
import { prepareDatabase } from '../../src/platform/database/prepare-database.js';
import { createEarlierDatabase } from '../support/earlier-database.js';
import { TALLY_DIFFERENCES } from '../support/tally-differences.js';

/** Rows of some hours, of a team and of none, counted as the version before counts them. */
const ROWS = (from: number) => `
  insert into directives (directive_id, workspace_id, team_id, text, capo, routed_by, priority, requires_approval, context, status, cost,
    created_by, created_at)
  select 'dir_' || n, 'wks_1', case when n % 2 = 0 then 'team_1' end, 'x', 'capo_ops', 'operator', 'medium', true, '{}', 'executed',
    '{"amount": 0.25, "currency": "USD"}', '{}', now() - n * interval '10 minutes' from generate_series(${from}, ${from} + 9) n;
  insert into approvals (approval_id, workspace_id, team_id, directive_id, kind, round, status, ready, title, summary, priority, risk,
    reversibility, requested_by, requested_at, expires_at, on_expiry, decided_at)
  select 'apr_' || n, 'wks_1', case when n % 2 = 0 then 'team_1' end, 'dir_' || n, 'output', 0, case when n % 3 = 0 then 'pending'
      else 'expired' end, true, '', '', 'medium', 'low', 'reversible', '{}', now() - n * interval '10 minutes', now(), 'reject',
    case when n % 3 > 0 then now() - n * interval '7 minutes' end from generate_series(${from}, ${from} + 9) n;
  insert into revenue_events (event_id, workspace_id, team_id, amount, currency, source, occurred_at, recorded_by, created_at)
  select 'rev_' || n, 'wks_1', case when n % 2 = 0 then 'team_1' end, n, 'USD', 'shop', now() - n * interval '40 minutes', '{}', now()
  from generate_series(${from}, ${from} + 9) n;
  insert into signals (signal_id, workspace_id, type, severity, title, body, score, source, created_at)
  select 'sig_' || n, 'wks_1', 'agent', 'info', '', '', 0.5, '{}', now() from generate_series(${from}, ${from} + 9) n;
  insert into partner_events (workspace_id, partner_event_id, content_hash, customer_entitlement_id, partner_target_id, metric, delta,
    new_confidence, fired_at, received_at, signal_id)
  select 'wks_1', 'e' || n, '', 'b', 't', 'trust', 0.1, 0.5, now(), now() - n * interval '10 minutes', 'sig_' || n
  from generate_series(${from}, ${from} + 9) n;`;

/** As the version before added changes up. */
const FOLD = `
  with gone as (delete from tally_changes returning workspace_id, team_id, kind, key, bucket, n, amount),
  added as (
    insert into tallies (workspace_id, team_id, kind, key, bucket, n, amount)
    select workspace_id, team_id, kind, key, date_trunc('hour', bucket, 'UTC'), sum(n), sum(amount) from gone
    where kind not in ('team_revenue', 'executed', 'pending', 'evals', 'actions') group by 1, 2, 3, 4, 5)
  insert into kpi_figures (workspace_id, team_id, kind, minutes, bucket, key, n, amount)
  select g.workspace_id, o.team_id, g.kind, s.minutes, s.bucket, g.key, sum(g.n), sum(g.amount)
  from gone g cross join lateral (values (g.team_id), ('*')) o (team_id)
    cross join lateral (values (15, g.bucket), (60, date_trunc('hour', g.bucket, 'UTC'))) s (minutes, bucket)
  where g.kind in ('team_revenue', 'executed', 'pending', 'evals', 'actions', 'cost') group by 1, 2, 3, 4, 5, 6`;

it('keeps what was counted, whether or not it has been added up', { timeout: 60_000 }, async () => {
  const database = await createEarlierDatabase(1766_000_000_280);
  const { url, administrator } = database;
  try {
    await administrator.query(
      `set session_replication_role = replica; insert into workspaces (workspace_id, name, tier)
       values ('wks_1', 'x', 'enterprise'); set session_replication_role = origin`,
    );
    await administrator.query(ROWS(1));
    await administrator.query(FOLD);
    await administrator.query(ROWS(11));

    await prepareDatabase(url);

    const differences = async () => (await administrator.query(TALLY_DIFFERENCES)).rows;
    expect(await differences()).toEqual([]);
    await administrator.query('select app.fold_tallies(1000)');
    expect(await differences()).toEqual([]);
    const figures = `select minutes, sum(n)::int as n, sum(amount)::int as amount from kpi_figures
      where kind = 'team_revenue' and team_id = '*' group by 1 order by 1`;
    expect((await administrator.query(figures)).rows).toEqual([
      { minutes: 15, n: 20, amount: 210 },
      { minutes: 60, n: 20, amount: 210 },
    ]);
  } finally {
    await database.drop();
  }
});
