drop function if exists app.revenue_since;

-- Revenue after p_from by currency, exact: the whole hours from their tallies, the part of an hour from the events.
create function app.revenue_since(p_workspace_id text, p_from timestamptz) returns table (currency text, n bigint, amount numeric)
  language plpgsql stable as $$
begin
  return query select r.currency, sum(r.n)::bigint, sum(r.amount) from (
    select s.key as currency, s.n, s.amount from app.tally_since(p_workspace_id, 'revenue', p_from) s
    union all
    select b.currency, b.n, b.amount from app.revenue_between(p_from, app.next_hour(p_from)) b
  ) r group by r.currency;
end $$;
grant execute on function app.revenue_since to consigliere_app;
