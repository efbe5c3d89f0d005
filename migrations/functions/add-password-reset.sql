drop function if exists app.add_password_reset;

-- Notes that a link for a new password was asked for, whether or not the address has an account. False when that was so
-- three times within the hour: then nothing more is mailed.
create function app.add_password_reset(p_reset_id text, p_email text, p_token_hash text, p_sealed_token text,
    p_now timestamptz, p_expires_at timestamptz)
  returns boolean language plpgsql security definer set search_path = public, pg_temp as $$
begin
  -- Nobody else can count for this address meanwhile.
  perform pg_advisory_xact_lock(hashtextextended(p_email, 8));
  insert into password_resets (reset_id, email, token_hash, sealed_token, requested_at, expires_at)
  select p_reset_id, p_email, p_token_hash, p_sealed_token, p_now, p_expires_at
  where (select count(*) from password_resets r where r.email = p_email and r.requested_at > p_now - interval '1 hour') < 3;
  return found;
end $$;
alter function app.add_password_reset owner to consigliere_system;
revoke execute on function app.add_password_reset from public;
grant execute on function app.add_password_reset to consigliere_app;
