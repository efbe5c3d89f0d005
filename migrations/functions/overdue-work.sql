drop function if exists app.overdue_work;

-- The rows that nobody has taken up though their time has come: after a killed process, a lost job or a lost notice.
-- Those that a guardian holds back are left out, so that they cannot crowd out the work of other workspaces.
create function app.overdue_work(p_late interval, p_limit int)
  returns table (task text, workspace_id text, id text)
  language sql stable security definer set search_path = public, pg_temp as $$
  (select case d.stage when 'route' then 'directive.route' else 'directive.draft' end, d.workspace_id, d.directive_id
    from directives d join guardians g using (workspace_id)
    where d.due_at < now() - p_late and g.mode <> 'killed' order by d.due_at limit p_limit)
  union all
  (select 'packet.send', p.workspace_id, p.work_packet_id
    from work_packets p join guardians g using (workspace_id)
    where p.due_at < now() - p_late and g.mode not in ('observe', 'killed', 'recovering')
    order by p.due_at limit p_limit)
  union all
  (select 'approval.expire', a.workspace_id, a.approval_id
    from approvals a where a.status = 'pending' and a.frozen_ms is null and a.expires_at < now() - p_late
    order by a.expires_at limit p_limit)
  union all
  (select 'directive.expire', d.workspace_id, d.directive_id
    from directives d where d.deadline < now() - p_late
      and d.status in ('pending_approval', 'queued', 'executing', 'halted')
    order by d.deadline limit p_limit)
$$;
alter function app.overdue_work owner to consigliere_system;
