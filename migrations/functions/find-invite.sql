drop function if exists app.find_invite;

-- Where the invite with this token's SHA-256 belongs: asked before a workspace is known.
create function app.find_invite(p_token_hash text) returns table (invite_id text, workspace_id text, email text)
  language sql stable security definer set search_path = public, pg_temp as
  'select i.invite_id, i.workspace_id, i.email from invites i where i.token_hash = p_token_hash';
alter function app.find_invite owner to consigliere_system;
revoke execute on function app.find_invite from public;
grant execute on function app.find_invite to consigliere_app;
