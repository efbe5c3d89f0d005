drop function if exists app.enqueue_due_reports;

-- Enqueues the workspaces whose report is to be made now, the longest overdue first.
create function app.enqueue_due_reports(p_limit int) returns void
  language sql security definer set search_path = public, pg_temp as $$
  insert into work_items (kind, id, workspace_id, queue, due_at)
  select 'report.schedule', c.workspace_id, c.workspace_id, c.workspace_id, now()
  from report_configs c
  where c.due_at <= now()
    and not exists (select from work_items w where w.kind = 'report.schedule' and w.id = c.workspace_id)
  order by c.due_at limit p_limit
  on conflict do nothing
$$;
alter function app.enqueue_due_reports owner to consigliere_system;
revoke execute on function app.enqueue_due_reports from public;
grant execute on function app.enqueue_due_reports to consigliere_app;
