drop function if exists app.canonical_json;

-- RFC 8785, as canonicalJson of the program makes it, for values whose keys are within the Basic Multilingual Plane.
create function app.canonical_json(value jsonb) returns text
  language plpgsql immutable strict parallel safe set search_path = public, pg_temp as $$
declare
  n numeric;
begin
  case jsonb_typeof(value)
    when 'object' then
      return '{' || coalesce((select string_agg(to_json(e.key)::text || ':' || app.canonical_json(e.value), ','
        order by e.key collate "C") from jsonb_each(value) e), '') || '}';
    when 'array' then
      return '[' || coalesce((select string_agg(app.canonical_json(e.value), ',' order by e.ordinality)
        from jsonb_array_elements(value) with ordinality e), '') || ']';
    when 'number' then
      n := value::numeric;
      -- JavaScript writes what is very large or very small with an exponent.
      if n <> 0 and (abs(n) >= 1e21 or abs(n) < 1e-6) then
        return regexp_replace(n::float8::text, 'e([+-])0*', 'e\1');
      end if;
      return trim_scale(n)::text;
    else
      return value::text;
  end case;
end $$;
revoke execute on function app.canonical_json from public;
grant execute on function app.canonical_json to consigliere_app, consigliere_system;
