drop function if exists app.new_id;

-- An id as the program makes them, for rows that only the database knows the number of.
create function app.new_id(prefix text) returns text
  language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  crockford constant text := '0123456789abcdefghjkmnpqrstvwxyz';
  ms bigint := (extract(epoch from clock_timestamp()) * 1000)::bigint;
  noise bytea := uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());
  id text := '';
  digit int;
begin
  for digit in 0..9 loop
    id := substr(crockford, ((ms >> (5 * digit)) & 31)::int + 1, 1) || id;
  end loop;
  -- Bytes 6 and 8 of a random UUID hold its version and variant.
  foreach digit in array array[0, 1, 2, 3, 4, 5, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17] loop
    id := id || substr(crockford, (get_byte(noise, digit) & 31) + 1, 1);
  end loop;
  return prefix || '_' || id;
end $$;
grant execute on function app.new_id to consigliere_app;
