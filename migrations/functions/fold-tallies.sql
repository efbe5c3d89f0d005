drop function if exists app.fold_tallies;

-- Adds changes up into the tallies; answers of how many transactions. One process at a time, so that no two wait for the same rows in another
-- order. What comes to nothing changes no tally.
create function app.fold_tallies(p_limit int) returns bigint
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  folded bigint;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('fold tallies', 4)) then
    return 0;
  end if;
  with gone as (
    delete from tally_notes where ctid = any (array(select ctid from tally_notes limit p_limit))
    returning workspace_id, team_id, changes
  ), added as (
    insert into tallies (workspace_id, team_id, kind, key, bucket, n, amount)
    select g.workspace_id, o.team_id, c.kind, c.key, c.bucket, sum(c.n), sum(c.amount)
    from gone g cross join lateral unnest(g.changes) c cross join lateral (select g.team_id union select '*') o (team_id)
    group by 1, 2, 3, 4, 5 having sum(c.n) <> 0 or sum(c.amount) <> 0
    on conflict on constraint tallies_pkey do update set n = tallies.n + excluded.n, amount = tallies.amount + excluded.amount
  )
  select count(*) into folded from gone;
  return folded;
end $$;
alter function app.fold_tallies owner to consigliere_system;
revoke execute on function app.fold_tallies from public;
grant execute on function app.fold_tallies to consigliere_app;
