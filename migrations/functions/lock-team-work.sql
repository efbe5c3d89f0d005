drop function if exists app.lock_team_work;

-- Locks what of a team has not ended, in the order in which acts lock it: approvals, action requests, directives, work
-- packets. Answers the open directives.
create function app.lock_team_work(p_workspace_id text, p_team_id text) returns text[]
  language plpgsql set search_path = public, pg_temp as $$
declare
  open text[];
begin
  perform 1 from approvals a where a.workspace_id = p_workspace_id and a.team_id = p_team_id
    and (a.status = 'pending' or a.directive_id = any (array(select d.directive_id from directives d
      where d.workspace_id = p_workspace_id and d.team_id = p_team_id
        and d.status in ('pending_approval', 'queued', 'executing', 'sending', 'halted'))))
    order by a.approval_id for no key update;
  perform 1 from action_requests r where r.workspace_id = p_workspace_id and r.team_id = p_team_id
    and r.status in ('pending', 'allowed', 'approved', 'consumed', 'unconfirmed')
    order by r.action_request_id for no key update;
  perform 1 from directives d where d.workspace_id = p_workspace_id and d.team_id = p_team_id
    and d.status in ('pending_approval', 'queued', 'executing', 'sending', 'halted')
    order by d.directive_id for no key update;
  -- Of those that were waited for some may have ended.
  open := array(select d.directive_id from directives d
    where d.workspace_id = p_workspace_id and d.team_id = p_team_id
      and d.status in ('pending_approval', 'queued', 'executing', 'sending', 'halted')
    order by d.directive_id);
  perform 1 from work_packets p where p.workspace_id = p_workspace_id and (p.directive_id = any (open)
    or p.team_id = p_team_id and p.status in ('drafted', 'awaiting_approval', 'queued', 'sending', 'halted'))
    order by p.work_packet_id for no key update;
  return open;
end $$;
revoke execute on function app.lock_team_work from public;
grant execute on function app.lock_team_work to consigliere_app;
