drop function if exists app.find_session;

-- Who presents the cookie with this SHA-256, as app.find_caller answers it of a token. It ends p_idle after the last request;
-- that a request came is written down once in five seconds, so the time of the last is known to five seconds.
create function app.find_session(p_secret_hash text, p_now timestamptz, p_idle interval) returns table (
  credential_id text, workspace_id text, workspace_name text, tier text, member_id text, user_id text, name text,
  email text, role text, team_ids text[], team_roles jsonb, token_made_by text[], via text, expires_at timestamptz,
  revoked_at timestamptz, member_status text, lacks_second_factor boolean, scopes text[], agent jsonb, tools text[],
  token_root_id text
) language sql volatile security definer set search_path = public, pg_temp as $$
  with seen as (
    update sessions s set last_seen_at = p_now
    where s.secret_hash = p_secret_hash and s.ended_at is null and s.expires_at > p_now
      and s.last_seen_at between p_now - p_idle and p_now - interval '5 seconds'
    returning s.session_id
  )
  select s.session_id, s.workspace_id, w.name, w.tier, m.member_id, m.user_id, u.display_name, u.email, m.role,
    array(select tm.team_id from team_members tm join teams using (team_id)
      where tm.member_id = m.member_id and archived_at is null order by tm.team_id),
    (select coalesce(jsonb_object_agg(tm.team_id, tm.role), '{}') from team_members tm join teams using (team_id)
      where tm.member_id = m.member_id and archived_at is null),
    '{}'::text[], 'dashboard',
    least(s.expires_at, p_idle + case when exists (select from seen) then p_now else s.last_seen_at end),
    s.ended_at, m.status,
    app.demands_second_factor(s), null::text[], null::jsonb, null::text[], null::text
  from sessions s
  join members m on m.member_id = s.member_id
  join users u on u.user_id = m.user_id
  join workspaces w on w.workspace_id = s.workspace_id
  where s.secret_hash = p_secret_hash
$$;
alter function app.find_session owner to consigliere_system;
revoke execute on function app.find_session from public;
grant execute on function app.find_session to consigliere_app;
