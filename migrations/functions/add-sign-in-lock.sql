drop function if exists app.add_sign_in_lock;

-- Notes that a pair was locked, whether or not the address has an account.
create function app.add_sign_in_lock(p_lock_id text, p_email text, p_address text, p_at timestamptz) returns void
  language sql security definer set search_path = public, pg_temp as
  'insert into sign_in_locks (lock_id, email, address, at) values (p_lock_id, p_email, p_address, p_at)';
alter function app.add_sign_in_lock owner to consigliere_system;
revoke execute on function app.add_sign_in_lock from public;
grant execute on function app.add_sign_in_lock to consigliere_app;
