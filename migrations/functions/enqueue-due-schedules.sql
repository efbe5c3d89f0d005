drop function if exists app.enqueue_due_schedules;

-- Enqueues the schedules that are due, the longest overdue first. While the guardian lets nothing leave they wait, and are
-- found again in the second after.
create function app.enqueue_due_schedules(p_limit int) returns void
  language sql security definer set search_path = public, pg_temp as $$
  insert into work_items (kind, id, workspace_id, queue, due_at)
  select 'schedule.run', s.schedule_id, s.workspace_id, s.workspace_id, now()
  from schedules s join guardians g on g.workspace_id = s.workspace_id
  where s.next_run_at <= (select app.clock()) and g.mode not in ('killed', 'recovering', 'observe')
    and not exists (select from work_items w where w.kind = 'schedule.run' and w.id = s.schedule_id)
  order by s.next_run_at limit p_limit
  on conflict do nothing
$$;
alter function app.enqueue_due_schedules owner to consigliere_system;
revoke execute on function app.enqueue_due_schedules from public;
grant execute on function app.enqueue_due_schedules to consigliere_app;
