drop function if exists app.spend_oidc_state;

-- Whether the state with this SHA-256 is used for the first time; it is kept until no cookie with it is accepted any more.
create function app.spend_oidc_state(p_state_hash text, p_now timestamptz, p_expires_at timestamptz) returns boolean
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from oidc_spent_states where expires_at < p_now;
  insert into oidc_spent_states (state_hash, expires_at) values (p_state_hash, p_expires_at) on conflict do nothing;
  return found;
end $$;
alter function app.spend_oidc_state owner to consigliere_system;
revoke execute on function app.spend_oidc_state from public;
grant execute on function app.spend_oidc_state to consigliere_app;
