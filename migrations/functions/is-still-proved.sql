drop function if exists app.is_still_proved;

-- Whether the account has this very password, and no second factor unless one was shown. Neither changes until the
-- transaction ends.
create function app.is_still_proved(p_user_id text, p_password_hash text, p_second_factor boolean) returns boolean
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform from users u where u.user_id = p_user_id and u.password_hash = p_password_hash for share;
  return found and (p_second_factor or not exists (
    select from second_factors f where f.user_id = p_user_id and f.confirmed_at is not null));
end $$;
alter function app.is_still_proved owner to consigliere_system;
revoke execute on function app.is_still_proved from public;
grant execute on function app.is_still_proved to consigliere_app;
