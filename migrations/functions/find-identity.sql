drop function if exists app.find_identity;

-- The account that a person at the provider signs in to, whichever workspaces it is a member of.
create function app.find_identity(p_issuer text, p_subject text) returns table (user_id text, display_name text, email text)
  language sql stable security definer set search_path = public, pg_temp as $$
  select u.user_id, u.display_name, u.email from user_identities i join users u on u.user_id = i.user_id
  where i.issuer = p_issuer and i.subject = p_subject
$$;
alter function app.find_identity owner to consigliere_system;
revoke execute on function app.find_identity from public;
grant execute on function app.find_identity to consigliere_app;
