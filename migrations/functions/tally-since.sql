drop function if exists app.tally_since;

-- What is counted by the hour, by key, from the first whole hour after p_from on. The part of an hour before it is the
-- caller's to add, from the rows themselves. A change names its hour, or a quarter of it.
create function app.tally_since(p_workspace_id text, p_kind text, p_from timestamptz)
  returns table (key text, n bigint, amount numeric)
  language sql stable as $$
  select t.key, sum(t.n)::bigint, sum(t.amount) from (
    select c.key, c.n, c.amount from public.tallies c
    where c.workspace_id = p_workspace_id and c.kind = p_kind and c.bucket >= app.next_hour(p_from)
    union all
    select c.key, c.n, c.amount from public.tally_changes c
    where c.workspace_id = p_workspace_id and c.kind = p_kind and c.bucket >= app.next_hour(p_from)
  ) t group by t.key
$$;
grant execute on function app.tally_since to consigliere_app;
