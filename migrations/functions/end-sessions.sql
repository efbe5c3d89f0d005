drop function if exists app.end_sessions;

-- Ends every session that this account has, in whatever workspace, except one, with the tokens that they made for the
-- dashboard; answers how many those were.
create function app.end_sessions(p_user_id text, p_except text, p_now timestamptz) returns int
  language sql volatile security definer set search_path = public, pg_temp as $$
  with ended as (
    update sessions set ended_at = p_now
    where user_id = p_user_id and ended_at is null and session_id is distinct from p_except
    returning session_id
  ), revoked as (
    update tokens t set revoked_at = p_now from ended e where t.session_id = e.session_id and t.revoked_at is null
  )
  select count(*)::int from ended
$$;
alter function app.end_sessions owner to consigliere_system;
revoke execute on function app.end_sessions from public;
grant execute on function app.end_sessions to consigliere_app;
