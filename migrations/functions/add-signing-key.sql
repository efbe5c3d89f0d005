drop function if exists app.add_signing_key;

-- Adds the first signing key, or the one that follows p_signed_by. Changes nothing when another process was faster: there
-- is one first key, and each key has one successor.
create function app.add_signing_key(p_key_id text, p_public_key text, p_sealed_private_key text,
    p_created_at timestamptz, p_signed_by text, p_signature text)
  returns void
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  lock table signing_keys in share row exclusive mode;
  insert into signing_keys (key_id, public_key, sealed_private_key, created_at, signed_by, signature)
  select p_key_id, p_public_key, p_sealed_private_key, p_created_at, p_signed_by, p_signature
  where p_signed_by is not null or not exists (select from signing_keys)
  on conflict do nothing;
end $$;
revoke execute on function app.add_signing_key from public;
grant execute on function app.add_signing_key to consigliere_app;
