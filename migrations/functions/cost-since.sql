drop function if exists app.cost_since;

-- What drafts cost that were begun after p_from, by currency, exact: whole hours from their tallies, the part of an
-- hour from the directives.
create function app.cost_since(p_workspace_id text, p_from timestamptz) returns table (currency text, amount numeric)
  language plpgsql stable as $$
begin
  return query select r.currency, sum(r.amount) from (
    select s.key as currency, s.amount from app.tally_since(p_workspace_id, 'cost', p_from) s
    union all
    select d.cost->>'currency', (d.cost->>'amount')::numeric from public.directives d
    where d.workspace_id = p_workspace_id and d.started_at > p_from and d.started_at < app.next_hour(p_from)
      and (d.cost->>'amount')::numeric <> 0
  ) r group by r.currency;
end $$;
grant execute on function app.cost_since to consigliere_app;
