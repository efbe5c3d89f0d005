drop function if exists app.take_sign_in_lock;

-- The lock, which is noted no more, with the account that it is about; no row where there is none.
create function app.take_sign_in_lock(p_lock_id text) returns table (user_id text, address text, at timestamptz)
  language sql security definer set search_path = public, pg_temp as $$
  with taken as (delete from sign_in_locks l where l.lock_id = p_lock_id returning l.email, l.address, l.at)
  select u.user_id, taken.address, taken.at from taken join users u on u.email = taken.email
$$;
alter function app.take_sign_in_lock owner to consigliere_system;
revoke execute on function app.take_sign_in_lock from public;
grant execute on function app.take_sign_in_lock to consigliere_app;
