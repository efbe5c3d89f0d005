drop function if exists app.find_caller;

-- Who presents the token with this SHA-256: the one look-up that comes before a workspace is known. A team that was archived
-- gives no role any more. A token that a session made for the dashboard opens nothing beyond the session's own end. While the
-- session lacks a second factor, its token is reported as revoked, and lacks_second_factor says that nothing else is wrong with
-- it: a program that does not know the column refuses the token.
create function app.find_caller(p_token_hash text) returns table (
  credential_id text, workspace_id text, workspace_name text, tier text, member_id text, user_id text, name text,
  email text, role text, team_ids text[], team_roles jsonb, token_made_by text[], via text, expires_at timestamptz,
  revoked_at timestamptz, member_status text, scopes text[], agent jsonb, tools text[], token_root_id text, paused_at timestamptz,
  lacks_second_factor boolean
) language sql stable security definer set search_path = public, pg_temp as $$
  select t.token_id, t.workspace_id, w.name, w.tier, m.member_id, m.user_id, u.display_name, u.email, m.role,
    array(select tm.team_id from team_members tm join teams using (team_id)
      where tm.member_id = m.member_id and archived_at is null order by tm.team_id),
    (select coalesce(jsonb_object_agg(tm.team_id, tm.role), '{}') from team_members tm join teams using (team_id)
      where tm.member_id = m.member_id and archived_at is null),
    t.made_by, case when t.session_id is null then 'api' else 'dashboard' end, least(t.expires_at, s.expires_at),
    coalesce(t.revoked_at, s.ended_at, case when lacks.second_factor then now() end),
    m.status, t.scopes, case when t.agent_name is not null then jsonb_build_object('name', t.agent_name) end, t.tools,
    coalesce(t.root_id, t.token_id), t.paused_at, lacks.second_factor
  from tokens t
  join members m on m.member_id = t.member_id
  join users u on u.user_id = m.user_id
  join workspaces w on w.workspace_id = t.workspace_id
  left join sessions s on s.session_id = t.session_id
  cross join lateral (select coalesce(t.revoked_at, s.ended_at) is null and s.session_id is not null
    and app.demands_second_factor(s) as second_factor) lacks
  where t.token_hash = p_token_hash
$$;
alter function app.find_caller owner to consigliere_system;
revoke execute on function app.find_caller from public;
grant execute on function app.find_caller to consigliere_app;
