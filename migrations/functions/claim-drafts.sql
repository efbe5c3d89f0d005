drop function if exists app.claim_drafts;

-- Claims directives to draft as app.claim_work does, and answers in the same call what their capos are told of them. What is
-- claimed may have been committed while the claim waited for its turn; only a statement that begins after it sees the rows.
create function app.claim_drafts(p_kind text, p_queues text[], p_rooms int[], p_in_flight int, p_lease interval,
    p_claimer text)
  returns table (id text, workspace_id text, queue text, attempt bigint, failures int, crashes int, last_error jsonb,
    probe boolean, traceparent text, team_id text, text text, capo text, priority text, context jsonb, deadline timestamptz,
    feedback jsonb, created_by jsonb, requires_approval boolean, started_at timestamptz)
  language plpgsql security definer
  set search_path = public, pg_temp set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
  set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  ids text[];
begin
  select array_agg(c.id) into ids
    from app.claim_work(p_kind, p_queues, p_rooms, p_in_flight, p_lease, p_claimer) c;
  if ids is null then return; end if;
  return query
    select w.id, w.workspace_id, w.queue, w.attempt, w.failures, w.crashes, w.last_error, false, w.traceparent,
      d.team_id, d.text, d.capo, d.priority, d.context, d.deadline, d.feedback, d.created_by, d.requires_approval, d.started_at
    from unnest(ids) c (id)
    join work_items w on w.kind = p_kind and w.id = c.id
    left join directives d on d.directive_id = w.id;
end $$;
alter function app.claim_drafts owner to consigliere_system;
revoke execute on function app.claim_drafts from public;
grant execute on function app.claim_drafts to consigliere_app;
