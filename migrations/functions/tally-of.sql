drop function if exists app.tally_of;

-- What is counted over all time, by key, of what the caller may see; of one team alone if it is named.
create function app.tally_of(p_workspace_id text, p_kind text, p_team_id text default null)
  returns table (key text, n bigint)
  language sql stable as $$
  select t.key, sum(t.n)::bigint from (
    select c.key, c.n from public.tallies c
    where c.workspace_id = p_workspace_id and c.kind = p_kind and c.bucket = '-infinity'
      and c.team_id = any (case when p_team_id is null then app.audience() else array[p_team_id] end)
    union all
    select c.key, c.n from public.tally_changes c
    where c.workspace_id = p_workspace_id and c.kind = p_kind and c.bucket = '-infinity'
      and (p_team_id is null or c.team_id = p_team_id)
  ) t group by t.key
$$;
grant execute on function app.tally_of to consigliere_app;
