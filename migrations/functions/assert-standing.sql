drop function if exists app.assert_standing;

-- Fails unless the caller stands as p_role and p_team_roles say (app.standing_of): an act whose first statements travel with this
-- one is admitted and done in one round trip.
create function app.assert_standing(p_workspace_id text, p_credential_id text, p_role text, p_team_roles jsonb,
    p_even_paused boolean)
  returns void language plpgsql set search_path = public, pg_temp as $$
begin
  perform from app.standing_of(p_workspace_id, p_credential_id) s
    where s.is_valid and (p_even_paused or not s.is_paused) and s.role = p_role and s.team_roles = p_team_roles;
  if not found then
    raise exception 'the caller has another role by now, or none' using errcode = 'CW002';
  end if;
end $$;
revoke execute on function app.assert_standing from public;
grant execute on function app.assert_standing to consigliere_app;
