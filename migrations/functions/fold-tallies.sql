drop function if exists app.fold_tallies;

-- Adds changes up into the tallies and the figures of the tiles; answers how many it took. One process at a time, so that no
-- two wait for the same rows in another order. What tiles alone show is in no tally, and what comes to nothing changes none.
create function app.fold_tallies(p_limit int) returns bigint
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  folded bigint;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('fold tallies', 4)) then
    return 0;
  end if;
  with gone as (
    delete from tally_changes where ctid = any (array(select ctid from tally_changes limit p_limit))
    returning workspace_id, team_id, kind, key, bucket, n, amount
  ), added as (
    insert into tallies (workspace_id, team_id, kind, key, bucket, n, amount)
    select workspace_id, team_id, kind, key, date_trunc('hour', bucket, 'UTC'), sum(n), sum(amount) from gone
    where kind not in ('team_revenue', 'executed', 'pending', 'evals', 'actions')
    group by 1, 2, 3, 4, 5 having sum(n) <> 0 or sum(amount) <> 0
    on conflict on constraint tallies_once do update set n = tallies.n + excluded.n, amount = tallies.amount + excluded.amount
  ), shown as (
    insert into kpi_figures (workspace_id, team_id, kind, minutes, bucket, key, n, amount)
    select g.workspace_id, o.team_id, g.kind, s.minutes, s.bucket, g.key, sum(g.n), sum(g.amount)
    from gone g cross join lateral (values (g.team_id), ('*')) o (team_id)
      cross join lateral (values (15, g.bucket), (60, date_trunc('hour', g.bucket, 'UTC'))) s (minutes, bucket)
    where g.kind in ('team_revenue', 'executed', 'pending', 'evals', 'actions', 'cost')
    group by 1, 2, 3, 4, 5, 6 having sum(g.n) <> 0 or sum(g.amount) <> 0
    on conflict on constraint kpi_figures_once
      do update set n = kpi_figures.n + excluded.n, amount = kpi_figures.amount + excluded.amount
  )
  select count(*) into folded from gone;
  return folded;
end $$;
alter function app.fold_tallies owner to consigliere_system;
revoke execute on function app.fold_tallies from public;
grant execute on function app.fold_tallies to consigliere_app;
