drop function if exists app.tally_of_all;

-- What is counted over all time, by key, of all workspaces together: some rows for each of them, found by their index.
create function app.tally_of_all(p_kind text) returns table (key text, n bigint)
  language sql stable security definer set search_path = public, pg_temp as $$
  select t.key, sum(t.n)::bigint from (
    select c.key, c.n from tallies c where c.kind = p_kind and c.team_id = '*' and c.bucket = '-infinity'
    union all
    select c.key, c.n from tally_changes c where c.kind = p_kind and c.bucket = '-infinity'
  ) t group by t.key
$$;
alter function app.tally_of_all owner to consigliere_system;
revoke execute on function app.tally_of_all from public;
grant execute on function app.tally_of_all to consigliere_app;
