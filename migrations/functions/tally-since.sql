drop function if exists app.tally_since;

-- What is counted by the quarter of an hour, by key, from the first whole quarter after p_from on, of what the caller may see. The part
-- of a quarter before it is the caller's to add, from the rows themselves. Kept for 100 days.
create function app.tally_since(p_workspace_id text, p_kind text, p_from timestamptz)
  returns table (key text, n bigint, amount numeric)
  language sql stable as $$
  select t.key, sum(t.n)::bigint, sum(t.amount) from (
    select c.key, c.n, c.amount from public.tallies c
    where c.workspace_id = p_workspace_id and c.kind = p_kind and c.bucket >= app.next_quarter(p_from)
      and c.team_id = any (case when p_kind = 'partner' then '{*}' else app.audience() end)
    union all
    select c.key, c.n, c.amount from public.tally_changes c
    where c.workspace_id = p_workspace_id and c.kind = p_kind and c.bucket >= app.next_quarter(p_from)
  ) t group by t.key
$$;
grant execute on function app.tally_since to consigliere_app;
