drop function if exists app.keep_revocation_list;

-- Keeps a list of revocations that this key of its publisher has signed, unless one with its number or a higher one is kept.
create function app.keep_revocation_list(p_publisher text, p_public_key text, p_number bigint, p_list jsonb) returns void
  language sql security definer set search_path = public, pg_temp as $$
  insert into revocation_lists (publisher, public_key, number, list)
  values (p_publisher, p_public_key, p_number, p_list)
  on conflict (publisher, public_key) do update
    set number = excluded.number, list = excluded.list, kept_at = excluded.kept_at
    where revocation_lists.number < excluded.number
$$;
alter function app.keep_revocation_list owner to consigliere_system;
revoke execute on function app.keep_revocation_list from public;
grant execute on function app.keep_revocation_list to consigliere_app;
