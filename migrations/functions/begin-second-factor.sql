drop function if exists app.begin_second_factor;

-- Keeps a new secret until it is confirmed, in place of one that was not; false when the account has a second factor.
create function app.begin_second_factor(p_user_id text, p_sealed_secret text, p_now timestamptz) returns boolean
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into second_factors as f (user_id, sealed_secret, begun_at) values (p_user_id, p_sealed_secret, p_now)
    on conflict (user_id) do update set sealed_secret = excluded.sealed_secret, begun_at = excluded.begun_at
    where f.confirmed_at is null;
  return found;
end $$;
alter function app.begin_second_factor owner to consigliere_system;
revoke execute on function app.begin_second_factor from public;
grant execute on function app.begin_second_factor to consigliere_app;
