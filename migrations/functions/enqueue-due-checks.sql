drop function if exists app.enqueue_due_checks;

-- Enqueues the connectors that are to be checked now. What the whole service has is work of a kind and of queues of its own,
-- so that nothing a workspace has configured holds it up; what a workspace has waits for its own only.
create function app.enqueue_due_checks(p_limit int) returns void
  language sql security definer set search_path = public, pg_temp as $$
  insert into work_items (kind, id, workspace_id, queue, due_at)
  select due.work, due.connector_id, due.workspace_id,
    case due.work when 'service.check' then due.connector_id else due.workspace_id end, now()
  from (
    select case when c.kind in ('webhook', 'partner') then 'connector.check' else 'service.check' end as work,
      c.connector_id, c.workspace_id, c.next_check_at
    from connectors c where c.next_check_at <= now()
  ) due
  where not exists (select from work_items w where w.kind = due.work and w.id = due.connector_id)
  order by due.next_check_at limit p_limit
  on conflict do nothing
$$;
alter function app.enqueue_due_checks owner to consigliere_system;
revoke execute on function app.enqueue_due_checks from public;
grant execute on function app.enqueue_due_checks to consigliere_app;
