drop function if exists app.find_password_reset;

-- The link with this id, or whose token has this SHA-256, with the account that it is for; no row where the address has none,
-- or one without a password. The newest link of an address is the one that works.
create function app.find_password_reset(p_reset_id text, p_token_hash text)
  returns table (reset_id text, sealed_token text, requested_at timestamptz, expires_at timestamptz, is_open boolean,
    user_id text, email text, display_name text, password_hash text)
  language sql stable security definer set search_path = public, pg_temp as $$
  select r.reset_id, r.sealed_token, r.requested_at, r.expires_at,
    r.used_at is null and not exists (select from password_resets n
      where n.email = r.email and (n.requested_at, n.reset_id) > (r.requested_at, r.reset_id)),
    u.user_id, u.email, u.display_name, u.password_hash
  from password_resets r join users u on u.email = r.email and u.password_hash is not null
  where r.reset_id = p_reset_id or r.token_hash = p_token_hash
$$;
alter function app.find_password_reset owner to consigliere_system;
revoke execute on function app.find_password_reset from public;
grant execute on function app.find_password_reset to consigliere_app;
