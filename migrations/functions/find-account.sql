drop function if exists app.find_account;

-- The account with this address, whichever workspaces it is a member of, with the hash that its password is held against.
create function app.find_account(p_email text) returns table (user_id text, display_name text, password_hash text)
  language sql stable security definer set search_path = public, pg_temp as
  'select u.user_id, u.display_name, u.password_hash from users u where u.email = p_email';
alter function app.find_account owner to consigliere_system;
revoke execute on function app.find_account from public;
grant execute on function app.find_account to consigliere_app;
