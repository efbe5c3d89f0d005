drop function if exists app.find_second_factor;

-- The second factor of an account, confirmed or only begun.
create function app.find_second_factor(p_user_id text)
  returns table (sealed_secret text, begun_at timestamptz, confirmed_at timestamptz, recovery_codes_left int)
  language sql stable security definer set search_path = public, pg_temp as $$
  select f.sealed_secret, f.begun_at, f.confirmed_at,
    (select count(*)::int from recovery_codes c where c.user_id = f.user_id and c.used_at is null)
  from second_factors f where f.user_id = p_user_id
$$;
alter function app.find_second_factor owner to consigliere_system;
revoke execute on function app.find_second_factor from public;
grant execute on function app.find_second_factor to consigliere_app;
