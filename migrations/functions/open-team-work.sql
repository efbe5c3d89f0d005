drop function if exists app.open_team_work;

-- Locks what of a team has not ended, and counts it and how many of its work packets are being sent just now. Counted
-- before the locks, one could begin to be sent in between. A request that stays unconfirmed may never end: it is no
-- open work, but it moves.
create function app.open_team_work(p_workspace_id text, p_team_id text)
  returns table (directives int, approvals int, work_packets int, standing_orders int, action_requests int, sending int)
  language plpgsql set search_path = public, pg_temp as $$
begin
  perform app.lock_team_work(p_workspace_id, p_team_id);
  return query select
    (select count(*)::int from directives d where d.workspace_id = p_workspace_id and d.team_id = p_team_id
      and d.status in ('pending_approval', 'queued', 'executing', 'sending', 'halted')),
    (select count(*)::int from approvals a where a.workspace_id = p_workspace_id and a.team_id = p_team_id
      and a.status = 'pending'),
    (select count(*)::int from work_packets p where p.workspace_id = p_workspace_id and p.team_id = p_team_id
      and p.status in ('drafted', 'awaiting_approval', 'queued', 'sending', 'halted')),
    (select count(*)::int from standing_orders o where o.workspace_id = p_workspace_id and o.team_id = p_team_id
      and o.status <> 'archived'),
    (select count(*)::int from action_requests r where r.workspace_id = p_workspace_id and r.team_id = p_team_id
      and r.status in ('pending', 'allowed', 'approved', 'consumed')),
    (select count(*)::int from work_packets p where p.workspace_id = p_workspace_id and p.team_id = p_team_id
      and p.status = 'sending');
end $$;
revoke execute on function app.open_team_work from public;
grant execute on function app.open_team_work to consigliere_app;
