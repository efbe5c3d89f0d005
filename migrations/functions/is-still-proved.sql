drop function if exists app.is_still_proved;

-- Whether the account has this very password, and a second factor if one was shown, and none if not. An organisation that
-- signs somebody in vouches for its own, so there is no password to compare. Neither changes until the transaction ends. Where a
-- session is named, it is what proves the account, as long as it is open.
create function app.is_still_proved(p_user_id text, p_password_hash text, p_second_factor boolean, p_session_id text default null)
  returns boolean
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform from users u
    where u.user_id = p_user_id and (p_password_hash is null or u.password_hash = p_password_hash) for share;
  return found and (p_password_hash is null or p_second_factor = exists (
    select from second_factors f where f.user_id = p_user_id and f.confirmed_at is not null))
    and (p_session_id is null or exists (
      select from sessions s where s.session_id = p_session_id and s.user_id = p_user_id and s.ended_at is null));
end $$;
alter function app.is_still_proved owner to consigliere_system;
revoke execute on function app.is_still_proved from public;
grant execute on function app.is_still_proved to consigliere_app;
