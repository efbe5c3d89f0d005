drop function if exists app.standing_of;

-- How the member stands now whose token, session or link to decide by this is: asked in each act, under the lock that keeps it
-- so until the act ends.
create function app.standing_of(p_workspace_id text, p_credential_id text)
  returns table (role text, is_valid boolean, is_paused boolean, team_roles jsonb)
  language sql stable set search_path = public, pg_temp as $$
  select m.role, m.status = 'active' and c.is_valid, c.is_paused, (select coalesce(jsonb_object_agg(tm.team_id, tm.role), '{}')
    from team_members tm where tm.workspace_id = m.workspace_id and tm.member_id = m.member_id)
  from (
    select t.member_id, t.revoked_at is null as is_valid, t.paused_at is not null as is_paused from tokens t
    where t.workspace_id = p_workspace_id and t.token_id = p_credential_id
    union all
    select s.member_id, s.ended_at is null, false from sessions s
    where s.workspace_id = p_workspace_id and s.session_id = p_credential_id
    union all
    select l.member_id, true, false from decision_links l
    where l.workspace_id = p_workspace_id and l.link_id = p_credential_id
  ) c join members m on m.member_id = c.member_id
$$;
revoke execute on function app.standing_of from public;
grant execute on function app.standing_of to consigliere_app;
