drop function if exists app.recount_tallies;

-- The tallies from the rows as they are: after rows were written past the triggers (a restored table).
create function app.recount_tallies() returns void language sql set search_path = public, pg_temp as $$
delete from tally_changes;
delete from tallies;
insert into tallies (workspace_id, team_id, kind, key, bucket, n, amount)
select workspace_id, team_id, 'directives', status || ' ' || coalesce(capo, ''), '-infinity', count(*), 0
from directives group by 1, 2, 4
union all
select workspace_id, team_id, 'cost', cost->>'currency', date_trunc('hour', started_at, 'UTC'), count(*),
  sum((cost->>'amount')::numeric)
from directives where started_at is not null and (cost->>'amount')::numeric <> 0 group by 1, 2, 4, 5
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
select workspace_id, null, 'revenue', currency, date_trunc('hour', occurred_at, 'UTC'), count(*), sum(amount)
from revenue_events group by 1, 4, 5
union all
select workspace_id, null, 'partner', metric, date_trunc('hour', received_at, 'UTC'), count(*), sum(delta::numeric)
from partner_events group by 1, 4, 5;
$$;
revoke all on function app.recount_tallies from public;
