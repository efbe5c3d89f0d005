drop function if exists app.renew_recovery_codes;

-- Puts these recovery codes in the place of all others; false when the account has no second factor by now.
create function app.renew_recovery_codes(p_user_id text, p_code_hashes text[]) returns boolean
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform from second_factors f where f.user_id = p_user_id and f.confirmed_at is not null for update;
  if not found then
    return false;
  end if;
  delete from recovery_codes c where c.user_id = p_user_id;
  insert into recovery_codes (user_id, code_hash) select p_user_id, unnest(p_code_hashes);
  return true;
end $$;
alter function app.renew_recovery_codes owner to consigliere_system;
revoke execute on function app.renew_recovery_codes from public;
grant execute on function app.renew_recovery_codes to consigliere_app;
