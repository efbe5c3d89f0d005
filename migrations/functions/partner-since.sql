drop function if exists app.partner_since;

-- Updates of the partner received after p_from by metric, exact: whole quarters of an hour from their tallies, the part of
-- one from the updates.
create function app.partner_since(p_workspace_id text, p_from timestamptz) returns table (metric text, n bigint, delta numeric)
  language plpgsql stable as $$
begin
  return query select r.metric, sum(r.n)::bigint, sum(r.delta) from (
    select s.key as metric, s.n, s.amount as delta from app.tally_since(p_workspace_id, 'partner', p_from) s
    union all
    select e.metric, 1, e.delta::numeric from public.partner_events e
    where e.workspace_id = p_workspace_id and e.received_at > p_from and e.received_at < app.next_quarter(p_from)
  ) r group by r.metric;
end $$;
grant execute on function app.partner_since to consigliere_app;
