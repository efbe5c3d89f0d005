drop function if exists app.find_account;

-- The account with this address, whichever workspaces it is a member of, with the hash that its password is held against, and
-- whether it has a second factor.
create function app.find_account(p_email text) returns table (user_id text, display_name text, password_hash text,
    has_second_factor boolean)
  language sql stable security definer set search_path = public, pg_temp as
  $$
  select u.user_id, u.display_name, u.password_hash,
    exists (select from second_factors f where f.user_id = u.user_id and f.confirmed_at is not null)
  from users u where u.email = p_email
$$;
alter function app.find_account owner to consigliere_system;
revoke execute on function app.find_account from public;
grant execute on function app.find_account to consigliere_app;
