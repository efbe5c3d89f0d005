drop function if exists app.visible_health_shares;

-- For each span from p_from[i] to p_to[i]: for what share of the time the connectors that the workspace may see were green,
-- from 0 to 1, counted from their changes of status; null where none of them was known yet. A span that is not over counts up
-- to now.
create function app.visible_health_shares(p_workspace_id text, p_from timestamptz[], p_to timestamptz[])
  returns table (n int, share double precision)
  language sql stable security definer set search_path = public, pg_temp as $$
  with seen as (
    select v.workspace_id, v.connector_id from app.visible_connectors(p_workspace_id) v
  ), known as (
    select h.status, h.checked_at as since,
      coalesce(lead(h.checked_at) over (partition by h.connector_id order by h.n), now()) as until
    from seen join connector_checks h
      on h.workspace_id = seen.workspace_id and h.connector_id = seen.connector_id and h.changed
  )
  select s.n::int, sum(extract(epoch from least(k.until, s.until) - greatest(k.since, s.since)))
      filter (where k.status = 'green')::float8
    / nullif(sum(extract(epoch from least(k.until, s.until) - greatest(k.since, s.since))), 0)::float8
  from unnest(p_from, p_to) with ordinality s (since, until, n)
  left join known k on k.since < s.until and k.until > s.since
  group by s.n order by s.n
$$;
alter function app.visible_health_shares owner to consigliere_system;
revoke execute on function app.visible_health_shares from public;
grant execute on function app.visible_health_shares to consigliere_app;
