drop function if exists app.revocation_lists_beyond;

-- The lists of revocations that p_public_keys[i] of p_publishers[i] has signed and that have a higher number than p_numbers[i].
create function app.revocation_lists_beyond(p_publishers text[], p_public_keys text[], p_numbers bigint[])
  returns table (public_key text, list jsonb)
  language sql stable security definer set search_path = public, pg_temp as $$
  select l.public_key, l.list
  from unnest(p_publishers, p_public_keys, p_numbers) known (publisher, public_key, number)
  join revocation_lists l on l.publisher = known.publisher and l.public_key = known.public_key and l.number > known.number
$$;
alter function app.revocation_lists_beyond owner to consigliere_system;
revoke execute on function app.revocation_lists_beyond from public;
grant execute on function app.revocation_lists_beyond to consigliere_app;
