drop function if exists app.move_team_work;

-- Gives a team's open directives to another, or to none, with all their approvals and work packets; what agents asked for;
-- and what a person has to decide about any of these, or about the team's orders. Answers each directive with its first line.
create function app.move_team_work(p_workspace_id text, p_team_id text, p_to text)
  returns table (directive_id text, title text)
  language plpgsql set search_path = public, pg_temp as $$
declare
  moving text[] := app.lock_team_work(p_workspace_id, p_team_id);
begin
  update approvals a set team_id = p_to where a.workspace_id = p_workspace_id and a.team_id = p_team_id
    and (a.directive_id = any (moving) or a.status = 'pending');
  update action_requests r set team_id = p_to where r.workspace_id = p_workspace_id and r.team_id = p_team_id
    and r.status in ('pending', 'allowed', 'approved', 'consumed', 'unconfirmed');
  update work_packets p set team_id = p_to where p.workspace_id = p_workspace_id and p.team_id = p_team_id
    and (p.directive_id = any (moving)
      or p.status in ('drafted', 'awaiting_approval', 'queued', 'sending', 'halted'));
  update escalations e set team_id = p_to where e.workspace_id = p_workspace_id and e.team_id = p_team_id
    and e.status = 'open' and (e.directive_id = any (moving)
      or e.directive_id is null and e.entity_type in ('standing_order', 'approval', 'action_request'));
  return query update directives d set team_id = p_to
    where d.workspace_id = p_workspace_id and d.directive_id = any (moving)
    returning d.directive_id, left(split_part(d.text, E'\n', 1), 120);
end $$;
revoke execute on function app.move_team_work from public;
grant execute on function app.move_team_work to consigliere_app;
