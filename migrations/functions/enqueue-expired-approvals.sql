drop function if exists app.enqueue_expired_approvals;

-- Enqueues the approvals whose time has passed and that nobody works on yet, the longest overdue first.
create function app.enqueue_expired_approvals(p_limit int) returns void
  language sql security definer set search_path = public, pg_temp as $$
  insert into work_items (kind, id, workspace_id, queue, due_at)
  select 'approval.expire', a.approval_id, a.workspace_id, a.workspace_id, now()
  from approvals a
  where a.status = 'pending' and a.frozen_ms is null and a.expires_at < now()
    and not exists (select from work_items w where w.kind = 'approval.expire' and w.id = a.approval_id)
  order by a.expires_at limit p_limit
  on conflict do nothing
$$;
alter function app.enqueue_expired_approvals owner to consigliere_system;
revoke execute on function app.enqueue_expired_approvals from public;
grant execute on function app.enqueue_expired_approvals to consigliere_app;
