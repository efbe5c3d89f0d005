drop function if exists app.recount_tallies;

-- The tallies, and the figures of the tiles, from the rows as they are: after rows were written past the triggers (a restored table).
create function app.recount_tallies() returns void language sql set search_path = public, pg_temp as $$
delete from tally_changes;
delete from tallies;
delete from kpi_figures;
insert into tallies (workspace_id, team_id, kind, key, bucket, n, amount)
select workspace_id, team_id, kind, key, date_trunc('hour', bucket, 'UTC'), sum(n), sum(amount) from app.counted
where kind not in ('team_revenue', 'executed', 'pending', 'evals', 'actions') group by 1, 2, 3, 4, 5;

insert into kpi_figures (workspace_id, team_id, kind, minutes, bucket, key, n, amount)
select f.workspace_id, o.team_id, f.kind, s.minutes, date_bin(make_interval(mins => s.minutes), f.bucket,
  timestamptz '2001-01-01 00:00:00+00'), f.key, sum(f.n), sum(f.amount)
from app.counted f
cross join lateral (values (f.team_id), ('*')) o (team_id)
cross join (values (15::smallint), (60::smallint)) s (minutes)
where f.kind in ('team_revenue', 'executed', 'pending', 'evals', 'actions', 'cost') and f.bucket > now() - interval '100 days'
group by 1, 2, 3, 4, 5, 6;
$$;
revoke all on function app.recount_tallies from public;
