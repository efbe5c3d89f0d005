drop function if exists app.use_password_reset;

-- Sets the password by a link that is used now, and once; false when it opens nothing any more. The owner of the mailbox is
-- the owner of the account: what others have tried no longer slows them, and least of all from where they are now.
create function app.use_password_reset(p_reset_id text, p_password_hash text, p_account text, p_address text,
    p_now timestamptz)
  returns boolean language plpgsql security definer set search_path = public, pg_temp as $$
declare
  own_email text;
begin
  update password_resets r set used_at = p_now, sealed_token = null
    where r.reset_id = p_reset_id and r.used_at is null and r.expires_at > p_now
      and not exists (select from password_resets n
        where n.email = r.email and (n.requested_at, n.reset_id) > (r.requested_at, r.reset_id))
    returning r.email into own_email;
  if not found then
    return false;
  end if;
  update users u set password_hash = p_password_hash where u.email = own_email and u.password_hash is not null;
  if not found then
    return false;
  end if;
  delete from sign_in_rates r where r.account = p_account;
  insert into sign_in_tries as t (account, address, tried_at, succeeded_at) values (p_account, p_address, p_now, p_now)
    on conflict (account, address) do update set failed_at = '{}', locked_until = null, succeeded_at = p_now;
  return true;
end $$;
alter function app.use_password_reset owner to consigliere_system;
revoke execute on function app.use_password_reset from public;
grant execute on function app.use_password_reset to consigliere_app;
