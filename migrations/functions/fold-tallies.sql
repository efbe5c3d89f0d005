drop function if exists app.fold_tallies;

-- Adds the oldest changes up into the tallies; answers how many it took. One process at a time, so that no two wait
-- for the same rows in another order.
create function app.fold_tallies(p_limit int) returns bigint
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  folded bigint;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('fold tallies', 4)) then
    return 0;
  end if;
  with gone as (
    delete from tally_changes where change_id in (
      select change_id from tally_changes order by change_id limit p_limit)
    returning workspace_id, team_id, kind, key, bucket, n, amount
  ), added as (
    insert into tallies (workspace_id, team_id, kind, key, bucket, n, amount)
    select workspace_id, team_id, kind, key, bucket, sum(n), sum(amount) from gone group by 1, 2, 3, 4, 5
    on conflict on constraint tallies_once do update set n = tallies.n + excluded.n, amount = tallies.amount + excluded.amount
  )
  select count(*) into folded from gone;
  return folded;
end $$;
alter function app.fold_tallies owner to consigliere_system;
