drop function if exists app.find_partner_secret;

-- What a request for this workspace may be signed with: looked up before the signature says who sends it.
create function app.find_partner_secret(p_workspace_id text)
  returns table (sealed_secret text, sealed_previous text, previous_until timestamptz)
  language sql stable security definer set search_path = public, pg_temp as $$
  select s.sealed_secret, s.sealed_previous, s.previous_until
  from partner_secrets s where s.workspace_id = p_workspace_id
$$;
alter function app.find_partner_secret owner to consigliere_system;
revoke execute on function app.find_partner_secret from public;
grant execute on function app.find_partner_secret to consigliere_app;
