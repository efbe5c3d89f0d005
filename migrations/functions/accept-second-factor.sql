drop function if exists app.accept_second_factor;

-- Uses up a code: that of a time step, which must be later than that of the last one, or a recovery code. False when it was
-- used before; of any number of uses at a time one is true.
create function app.accept_second_factor(p_user_id text, p_step bigint, p_code_hash text, p_now timestamptz) returns boolean
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if p_step is not null then
    update second_factors f set last_step = p_step
      where f.user_id = p_user_id and f.confirmed_at is not null and f.last_step < p_step;
  else
    update recovery_codes c set used_at = p_now
      where c.user_id = p_user_id and c.code_hash = p_code_hash and c.used_at is null;
  end if;
  return found;
end $$;
alter function app.accept_second_factor owner to consigliere_system;
revoke execute on function app.accept_second_factor from public;
grant execute on function app.accept_second_factor to consigliere_app;
