drop function if exists app.enqueue_expired_directives;

-- Enqueues the directives whose deadline has passed before anything of them was sent, the longest overdue first.
create function app.enqueue_expired_directives(p_limit int) returns void
  language sql security definer set search_path = public, pg_temp as $$
  insert into work_items (kind, id, workspace_id, queue, due_at)
  select 'directive.expire', d.directive_id, d.workspace_id, d.workspace_id, now()
  from directives d
  where d.deadline < now() and d.status in ('pending_approval', 'queued', 'executing', 'halted')
    -- Of a halted one a part may have left; then it goes on with the revert.
    and (d.status <> 'halted' or not exists (select from work_packets p where p.workspace_id = d.workspace_id
      and p.directive_id = d.directive_id and p.status in ('sending', 'executed', 'failed', 'reverted')))
    and not exists (select from work_items w where w.kind = 'directive.expire' and w.id = d.directive_id)
  order by d.deadline limit p_limit
  on conflict do nothing
$$;
alter function app.enqueue_expired_directives owner to consigliere_system;
revoke execute on function app.enqueue_expired_directives from public;
grant execute on function app.enqueue_expired_directives to consigliere_app;
