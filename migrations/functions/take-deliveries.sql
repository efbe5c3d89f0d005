drop function if exists app.take_deliveries;

-- Takes up to p_room due deliveries of a destination, oldest first; never more than ten are in flight to it over all
-- processes, since they take in turn. A paused one lets a single delivery through when its probe is due.
-- A taking that is lost with the server's memory is only taken again, so it need not wait for the disk.
create function app.take_deliveries(p_workspace_id text, p_destination_id text, p_room int, p_lease interval,
    p_probe_every interval)
  returns table (delivery_id text, workspace_id text, destination_id text, event_id text, event text, request_id text,
    body text, takes int, sends int, url text, sealed_secret text, previous_sealed_secret text, probe boolean)
  language plpgsql set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  place webhook_destinations;
  room int;
begin
  set local synchronous_commit = off;
  perform pg_advisory_xact_lock(hashtextextended(p_destination_id, 2));
  select * into place from webhook_destinations d
    where d.workspace_id = p_workspace_id and d.destination_id = p_destination_id;
  if place.deleted_at is not null or place.status = 'gone' then
    -- What an act left here that committed in the moment of the end.
    update webhook_deliveries w set status = 'dead', due_at = null
      where w.workspace_id = p_workspace_id and w.destination_id = p_destination_id and w.due_at <= now();
    return;
  end if;
  if not found or place.probe_at > now() then return; end if;
  select least(p_room, 10 - count(*)) into room from webhook_deliveries w
    where w.destination_id = p_destination_id and w.status = 'sending' and w.due_at > now();
  if place.probe_at is not null then room := least(room, 1); end if;
  if room <= 0 then return; end if;
  return query
    with due as (
      select w.delivery_id from webhook_deliveries w
      where w.destination_id = p_destination_id and w.due_at <= now()
      order by w.due_at limit room for update skip locked
    ), taken as (
      update webhook_deliveries w set status = 'sending', takes = w.takes + 1, due_at = now() + p_lease
      from due where w.delivery_id = due.delivery_id
      returning w.delivery_id, w.event_id, w.event, w.takes, jsonb_array_length(w.attempts) as sends
    )
    select t.delivery_id, p_workspace_id, p_destination_id, t.event_id, t.event, e.request_id, e.body, t.takes, t.sends,
      place.url, place.sealed_secret, case when place.previous_until > now() then place.previous_sealed_secret end,
      place.probe_at is not null
    from taken t join webhook_events e on e.event_id = t.event_id;
  if found and place.probe_at is not null then
    update webhook_destinations d set probe_at = now() + p_probe_every
      where d.workspace_id = p_workspace_id and d.destination_id = p_destination_id;
  end if;
end $$;
grant execute on function app.take_deliveries to consigliere_app;
