drop function if exists app.end_sessions_of_member;

-- Ends the sessions of a member, so that none opens anything if the member ever comes back. Their tokens are revoked with
-- all others of the member.
create function app.end_sessions_of_member(p_workspace_id text, p_member_id text, p_now timestamptz) returns void
  language sql volatile set search_path = public, pg_temp as $$
  update sessions set ended_at = p_now
  where workspace_id = p_workspace_id and member_id = p_member_id and ended_at is null
$$;
revoke execute on function app.end_sessions_of_member from public;
grant execute on function app.end_sessions_of_member to consigliere_app;
