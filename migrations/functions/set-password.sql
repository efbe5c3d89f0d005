drop function if exists app.set_password;

-- Sets the password of whoever has proved that theirs has the hash p_old_hash; false when it is another by now. Links for a
-- forgotten password open nothing any more.
create function app.set_password(p_user_id text, p_old_hash text, p_new_hash text, p_now timestamptz) returns boolean
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  own_email text;
begin
  update users u set password_hash = p_new_hash where u.user_id = p_user_id and u.password_hash = p_old_hash
    returning u.email into own_email;
  if not found then
    return false;
  end if;
  update password_resets r set expires_at = p_now, sealed_token = null
    where r.email = own_email and r.used_at is null and r.expires_at > p_now;
  return true;
end $$;
alter function app.set_password owner to consigliere_system;
revoke execute on function app.set_password from public;
grant execute on function app.set_password to consigliere_app;
