drop function if exists app.enqueue_due_action_requests;

-- Enqueues the action requests of which something becomes without the agent, and that nobody works on yet: a paced one is decided
-- again, one that nobody consumed expires, one of which no result came is unconfirmed. The longest overdue first.
create function app.enqueue_due_action_requests(p_limit int) returns void
  language sql security definer set search_path = public, pg_temp as $$
  insert into work_items (kind, id, workspace_id, queue, due_at)
  select 'action.due', a.action_request_id, a.workspace_id, a.workspace_id, now()
  from action_requests a
  where a.due_at < app.clock()
    and not exists (select from work_items w where w.kind = 'action.due' and w.id = a.action_request_id)
  order by a.due_at limit p_limit
  on conflict do nothing
$$;
alter function app.enqueue_due_action_requests owner to consigliere_system;
revoke execute on function app.enqueue_due_action_requests from public;
grant execute on function app.enqueue_due_action_requests to consigliere_app;
