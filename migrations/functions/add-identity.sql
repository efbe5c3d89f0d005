drop function if exists app.add_identity;

-- Binds a person at the provider to an account. False when either has another already.
create function app.add_identity(p_issuer text, p_subject text, p_user_id text) returns boolean
  language sql security definer set search_path = public, pg_temp as $$
  with added as (
    insert into user_identities (issuer, subject, user_id) values (p_issuer, p_subject, p_user_id)
    on conflict do nothing returning 1
  ) select exists (select from added)
$$;
alter function app.add_identity owner to consigliere_system;
revoke execute on function app.add_identity from public;
grant execute on function app.add_identity to consigliere_app;
