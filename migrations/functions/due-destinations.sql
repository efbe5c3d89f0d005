drop function if exists app.due_destinations;

-- Which destinations have a delivery due within p_ahead, and in how many milliseconds the first of it is. A paused one
-- has none before its probe; one that has ended may have what came in the moment of its end.
create function app.due_destinations(p_ahead interval)
  returns table (workspace_id text, destination_id text, due_in_ms double precision)
  language sql stable security definer set search_path = public, pg_temp as $$
  select d.workspace_id, d.destination_id,
    extract(epoch from greatest(first.due_at, d.probe_at) - now())::float8 * 1000
  from webhook_destinations d
  cross join lateral (
    select w.due_at from webhook_deliveries w
    where w.destination_id = d.destination_id and w.due_at is not null order by w.due_at limit 1
  ) first
  where greatest(first.due_at, d.probe_at) <= now() + p_ahead
$$;
alter function app.due_destinations owner to consigliere_system;
