drop function if exists app.confirm_second_factor;

-- Makes the secret that was begun the second factor of the account, with these recovery codes; false when it is confirmed
-- already, or another by now. The code that confirms it counts as used.
create function app.confirm_second_factor(p_user_id text, p_sealed_secret text, p_step bigint, p_code_hashes text[],
    p_now timestamptz)
  returns boolean language plpgsql security definer set search_path = public, pg_temp as $$
begin
  -- A sign-in without it locks this row until its session exists and can be ended.
  perform from users u where u.user_id = p_user_id for no key update;
  update second_factors f set confirmed_at = p_now, last_step = p_step
    where f.user_id = p_user_id and f.confirmed_at is null and f.sealed_secret = p_sealed_secret;
  if not found then
    return false;
  end if;
  insert into recovery_codes (user_id, code_hash) select p_user_id, unnest(p_code_hashes);
  return true;
end $$;
alter function app.confirm_second_factor owner to consigliere_system;
revoke execute on function app.confirm_second_factor from public;
grant execute on function app.confirm_second_factor to consigliere_app;
