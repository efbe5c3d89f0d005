drop function if exists app.standing_of;

-- How the member whose token this is stands now: asked in each act, under the lock that keeps it so until the act ends.
create function app.standing_of(p_workspace_id text, p_token_id text)
  returns table (role text, is_valid boolean, team_roles jsonb)
  language sql stable set search_path = public, pg_temp as $$
  select m.role, m.status = 'active' and t.revoked_at is null, (select coalesce(jsonb_object_agg(tm.team_id, tm.role), '{}')
    from team_members tm where tm.workspace_id = m.workspace_id and tm.member_id = m.member_id)
  from tokens t join members m on m.member_id = t.member_id
  where t.workspace_id = p_workspace_id and t.token_id = p_token_id
$$;
revoke execute on function app.standing_of from public;
grant execute on function app.standing_of to consigliere_app;
