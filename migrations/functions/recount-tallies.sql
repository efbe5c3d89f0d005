drop function if exists app.recount_tallies;

-- The tallies, and the figures of the tiles, from the rows as they are: after rows were written past the triggers (a restored table).
create function app.recount_tallies() returns void language sql set search_path = public, pg_temp as $$
delete from tally_changes;
delete from tallies;
delete from kpi_figures;
insert into tallies (workspace_id, team_id, kind, key, bucket, n, amount)
select workspace_id, team_id, 'directives', status || ' ' || coalesce(capo, ''), '-infinity', count(*), 0
from directives group by 1, 2, 4
union all
select workspace_id, team_id, 'cost', currency, date_trunc('hour', at, 'UTC'), count(*), sum(amount)
from (
  select workspace_id, team_id, cost->>'currency' as currency, coalesce(started_at, created_at) as at,
    (cost->>'amount')::numeric as amount
  from directives
  union all
  select workspace_id, team_id, currency, charged_at, amount from model_charges
) costs where amount <> 0 group by 1, 2, 4, 5
union all
select workspace_id, team_id, 'approvals', case when status = 'pending' and ready then 'ready' else status end || ' '
  || coalesce(capo, ''), '-infinity', count(*), 0
from approvals group by 1, 2, 4
union all
select workspace_id, team_id, 'approvals_expired', '', date_trunc('hour', decided_at, 'UTC'), count(*), 0
from approvals where status = 'expired' and decided_at is not null group by 1, 2, 5
union all
select workspace_id, team_id, 'packets', status, '-infinity', count(*), 0 from work_packets group by 1, 2, 4
union all
select workspace_id, team_id, 'signals', 'scored', '-infinity', count(*), 0 from signals where score is not null
group by 1, 2
union all
select workspace_id, team_id, 'signals', 'open', '-infinity', count(*), 0 from signals
where withdrawn_at is null and acknowledged_at is null group by 1, 2
union all
select workspace_id, null, 'partner', metric, date_trunc('hour', received_at, 'UTC'), count(*), sum(delta::numeric)
from partner_events group by 1, 4, 5;

insert into kpi_figures (workspace_id, team_id, kind, minutes, bucket, key, n, amount)
select f.workspace_id, o.team_id, f.kind, s.minutes, date_bin(make_interval(mins => s.minutes), f.at,
  timestamptz '2001-01-01 00:00:00+00'), f.key, sum(f.n), sum(f.amount)
from (
  select workspace_id, team_id, 'cost' as kind, cost->>'currency' as key, coalesce(started_at, created_at) as at, 1 as n,
    (cost->>'amount')::numeric as amount
  from directives where (cost->>'amount')::numeric <> 0
  union all
  select workspace_id, team_id, 'cost', currency, charged_at, 1, amount from model_charges where amount <> 0
  union all
  select workspace_id, team_id, 'pending', '', requested_at, 1, 0 from approvals
  union all
  select workspace_id, team_id, 'pending', '', coalesce(decided_at, requested_at), -1, 0 from approvals
  where status <> 'pending'
  union all
  select workspace_id, team_id, 'executed', '', executed_at, 1, 0 from work_packets
  where status in ('executed', 'reverted') and executed_at is not null
  union all
  select workspace_id, team_id, 'team_revenue', currency, occurred_at, 1, amount from revenue_events
  union all
  select workspace_id, team_id, 'evals', '', created_at, 1, passed::int from eval_runs
  union all
  select r.workspace_id, r.team_id, 'actions', o.key, o.at, 1, 0
  from action_requests r cross join lateral app.outcomes_of_action(r) o
) f
cross join lateral (values (f.team_id), ('*')) o (team_id)
cross join (values (15::smallint), (60::smallint)) s (minutes)
where f.at > now() - interval '100 days'
group by 1, 2, 3, 4, 5, 6;
$$;
revoke all on function app.recount_tallies from public;
