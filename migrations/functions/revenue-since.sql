drop function if exists app.revenue_since;

-- Revenue after p_from by currency, exact, of what the caller may see (CONTRACT section 4): the whole hours from the figures that
-- the tiles of /kpi show, the part of an hour from the events. Figures are kept for 100 days.
create function app.revenue_since(p_workspace_id text, p_from timestamptz) returns table (currency text, n bigint, amount numeric)
  language plpgsql stable as $$
declare
  -- '*' names the row of all teams together; nothing, what belongs to none.
  teams constant text := current_setting('app.team_ids', true);
begin
  return query select r.currency, sum(r.n)::bigint, sum(r.amount) from (
    select f.key as currency, f.n, f.amount from public.kpi_figures f
    where f.workspace_id = p_workspace_id and f.kind = 'team_revenue' and f.minutes = 60 and f.bucket >= app.next_hour(p_from)
      and (f.team_id = any (string_to_array(teams, ',')) or (teams = '' and f.team_id is null))
    union all
    select c.key, c.n, c.amount from public.tally_changes c
    where c.workspace_id = p_workspace_id and c.kind = 'team_revenue' and c.bucket >= app.next_hour(p_from)
    union all
    select e.currency, 1, e.amount from public.revenue_events e
    where e.workspace_id = p_workspace_id and e.occurred_at > p_from and e.occurred_at < app.next_hour(p_from)
  ) r group by r.currency;
end $$;
grant execute on function app.revenue_since to consigliere_app;
