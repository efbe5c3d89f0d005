drop function if exists app.cost_since;

-- What models cost after p_from, by currency, exact: whole quarters of an hour from their tallies, the part of one from the directives
-- that were begun in it (handed in, while nobody has begun) and from what was charged to none.
create function app.cost_since(p_workspace_id text, p_from timestamptz) returns table (currency text, amount numeric)
  language plpgsql stable as $$
begin
  return query select r.currency, sum(r.amount) from (
    select s.key as currency, s.amount from app.tally_since(p_workspace_id, 'cost', p_from) s
    union all
    select d.cost->>'currency', (d.cost->>'amount')::numeric from public.directives d
    where d.workspace_id = p_workspace_id and d.started_at > p_from and d.started_at < app.next_quarter(p_from)
      and (d.cost->>'amount')::numeric <> 0
    union all
    select d.cost->>'currency', (d.cost->>'amount')::numeric from public.directives d
    where d.workspace_id = p_workspace_id and d.started_at is null and d.created_at > p_from
      and d.created_at < app.next_quarter(p_from) and (d.cost->>'amount')::numeric <> 0
    union all
    select m.currency, m.amount from public.model_charges m
    where m.workspace_id = p_workspace_id and m.charged_at > p_from and m.charged_at < app.next_quarter(p_from)
      and m.amount <> 0
  ) r group by r.currency;
end $$;
grant execute on function app.cost_since to consigliere_app;
