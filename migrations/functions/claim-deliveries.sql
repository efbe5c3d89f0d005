drop function if exists app.claim_deliveries;

-- Claims deliveries as app.claim_work does, and answers in the same call all that sending one needs. A delivery whose
-- destination was deleted or is gone is claimed as well, so that its work ends. What is claimed may have been committed
-- while the claim waited for its turn; only a statement that begins after it sees the rows that belong to it.
create function app.claim_deliveries(p_kind text, p_queues text[], p_rooms int[], p_in_flight int, p_lease interval,
    p_claimer text)
  returns table (id text, workspace_id text, queue text, attempt bigint, failures int, crashes int, last_error jsonb,
    probe boolean, traceparent text, receives boolean, event_id text, event text, request_id text, body text, sends int, url text,
    sealed_secret text, former_sealed_secrets text[])
  language plpgsql security definer
  set search_path = public, pg_temp set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
  set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  ids text[];
  probes boolean[];
begin
  select array_agg(c.id), array_agg(c.probe) into ids, probes
    from app.claim_work(p_kind, p_queues, p_rooms, p_in_flight, p_lease, p_claimer) c;
  if ids is null then return; end if;
  return query
    select w.id, w.workspace_id, w.queue, w.attempt, w.failures, w.crashes, w.last_error, c.probe, w.traceparent,
      coalesce(p.deleted_at is null and p.status <> 'gone', false),
      d.event_id, d.event, e.request_id, e.body, jsonb_array_length(d.attempts), p.url, p.sealed_secret,
      array(select former->>'sealed' from jsonb_array_elements(p.former_secrets) former
        where (former->>'until')::float8 > extract(epoch from clock_timestamp()) * 1000)
    from unnest(ids, probes) c (id, probe)
    join work_items w on w.kind = p_kind and w.id = c.id
    left join webhook_deliveries d on d.delivery_id = w.id
    left join webhook_events e on e.event_id = d.event_id
    left join webhook_destinations p on p.destination_id = d.destination_id;
end $$;
alter function app.claim_deliveries owner to consigliere_system;
revoke execute on function app.claim_deliveries from public;
grant execute on function app.claim_deliveries to consigliere_app;
