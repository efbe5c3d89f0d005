drop function if exists app.revenue_between;

-- What the workspace of the transaction earned after p_from and before p_to, by currency: the sum is the workspace's, whichever
-- team's work packets have recorded it.
create function app.revenue_between(p_from timestamptz, p_to timestamptz)
  returns table (currency text, n bigint, amount numeric)
  language sql stable security definer set search_path = public, pg_temp as $$
  select e.currency, count(*), sum(e.amount) from revenue_events e
  where e.workspace_id = current_setting('app.workspace_id', true) and e.occurred_at > p_from and e.occurred_at < p_to
  group by e.currency
$$;
alter function app.revenue_between owner to consigliere_system;
revoke execute on function app.revenue_between from public;
grant execute on function app.revenue_between to consigliere_app;
