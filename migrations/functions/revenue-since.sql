drop function if exists app.revenue_since;

-- Revenue after p_from by currency, exact, of what the caller may see (CONTRACT section 4): whole quarters of an hour from their tallies,
-- the part of one from the events.
create function app.revenue_since(p_workspace_id text, p_from timestamptz) returns table (currency text, n bigint, amount numeric)
  language plpgsql stable as $$
begin
  return query select r.currency, sum(r.n)::bigint, sum(r.amount) from (
    select s.key as currency, s.n, s.amount from app.tally_since(p_workspace_id, 'team_revenue', p_from) s
    union all
    select e.currency, 1, e.amount from public.revenue_events e
    where e.workspace_id = p_workspace_id and e.occurred_at > p_from and e.occurred_at < app.next_quarter(p_from)
  ) r group by r.currency;
end $$;
grant execute on function app.revenue_since to consigliere_app;
