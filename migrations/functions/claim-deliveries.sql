drop function if exists app.claim_deliveries;

-- Claims deliveries as app.claim_work does, and answers in the same statement all that sending one needs. A delivery whose
-- destination was deleted or is gone, or that is not there any more, is claimed as well, so that its work ends.
create function app.claim_deliveries(p_kind text, p_queues text[], p_rooms int[], p_in_flight int, p_lease interval)
  returns table (id text, workspace_id text, queue text, attempt int, failures int, crashes int, last_error jsonb,
    probe boolean, receives boolean, event_id text, event text, request_id text, body text, sends int, url text,
    sealed_secret text, former_sealed_secrets text[])
  language plpgsql security definer
  set search_path = public, pg_temp set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
  set enable_mergejoin = off as $$
#variable_conflict use_column
begin
  return query
    select c.id, c.workspace_id, c.queue, c.attempt, c.failures, c.crashes, c.last_error, c.probe,
      coalesce(p.deleted_at is null and p.status <> 'gone', false) and e.event_id is not null,
      e.event_id, d.event, e.request_id, e.body, jsonb_array_length(d.attempts), p.url, p.sealed_secret,
      array(select former->>'sealed' from jsonb_array_elements(p.former_secrets) former
        where (former->>'until')::float8 > extract(epoch from clock_timestamp()) * 1000)
    from app.claim_work(p_kind, p_queues, p_rooms, p_in_flight, p_lease) c
    left join webhook_deliveries d on d.delivery_id = c.id
    left join webhook_events e on e.event_id = d.event_id
    left join webhook_destinations p on p.destination_id = d.destination_id;
end $$;
alter function app.claim_deliveries owner to consigliere_system;
revoke execute on function app.claim_deliveries from public;
grant execute on function app.claim_deliveries to consigliere_app;
