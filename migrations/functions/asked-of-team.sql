drop function if exists app.asked_of_team;

-- What agents have asked for in a team and nothing has ended: a request until its result, a question until it is decided.
create function app.asked_of_team(p_workspace_id text, p_team_id text)
  returns table (entity_type text, entity_id text, title text)
  language sql stable set search_path = public, pg_temp as $$
  select 'action_request', r.action_request_id, r.title from action_requests r
  where r.workspace_id = p_workspace_id and r.team_id = p_team_id
    and r.status in ('pending', 'allowed', 'approved', 'consumed', 'unconfirmed')
  union all
  select 'approval', a.approval_id, a.title from approvals a
  where a.workspace_id = p_workspace_id and a.team_id = p_team_id and a.kind = 'question' and a.status = 'pending'
  order by 2
$$;
revoke execute on function app.asked_of_team from public;
grant execute on function app.asked_of_team to consigliere_app;
