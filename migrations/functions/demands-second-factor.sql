drop function if exists app.demands_second_factor;

-- Whether a session still has to show a second factor, or to set one up, before it opens more than that. It is so however
-- somebody signed in; but where there is no password, what else proves an account is up to who vouches for it.
create function app.demands_second_factor(p_session sessions) returns boolean
  language sql stable set search_path = public, pg_temp as $$
  select not (p_session).second_factor and (
    exists (select from second_factors f where f.user_id = u.user_id and f.confirmed_at is not null)
    or u.password_hash is not null and app.asks_second_factor(w.second_factor, m.role))
  from members m
  join users u on u.user_id = m.user_id
  join workspaces w on w.workspace_id = m.workspace_id
  where m.member_id = (p_session).member_id
$$;
revoke execute on function app.demands_second_factor from public;
grant execute on function app.demands_second_factor to consigliere_system;
