drop function if exists app.enqueue_expiring_approvals;

-- Enqueues the approvals about whose end a person is to be told now, the most urgent first.
create function app.enqueue_expiring_approvals(p_limit int) returns void
  language sql security definer set search_path = public, pg_temp as $$
  insert into work_items (kind, id, workspace_id, queue, due_at)
  select 'approval.escalate', a.approval_id, a.workspace_id, a.workspace_id, now()
  from approvals a
  where a.status = 'pending' and a.frozen_ms is null and a.escalates_at is not null and a.escalates_at < now()
    and not exists (select from work_items w where w.kind = 'approval.escalate' and w.id = a.approval_id)
  order by a.escalates_at limit p_limit
  on conflict do nothing
$$;
alter function app.enqueue_expiring_approvals owner to consigliere_system;
revoke execute on function app.enqueue_expiring_approvals from public;
grant execute on function app.enqueue_expiring_approvals to consigliere_app;
