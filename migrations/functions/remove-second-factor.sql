drop function if exists app.remove_second_factor;

-- Removes the second factor with its recovery codes; false when there is none.
create function app.remove_second_factor(p_user_id text) returns boolean
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  -- A sign-in locks this row until its session exists and can be ended.
  perform from users u where u.user_id = p_user_id for no key update;
  delete from second_factors f where f.user_id = p_user_id and f.confirmed_at is not null;
  return found;
end $$;
alter function app.remove_second_factor owner to consigliere_system;
revoke execute on function app.remove_second_factor from public;
grant execute on function app.remove_second_factor to consigliere_app;
