drop function if exists app.tenant_tables;

-- Every table with rows of workspaces, read from the catalogue: one that refers to another comes before it. What lets
-- people in comes first of all.
create function app.tenant_tables() returns table (name text)
  language sql stable set search_path = public, pg_temp as $$
  with recursive tenant as (
    select c.oid, c.relname::text as name
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'workspace_id' and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
  ), reached (oid, depth) as (
    select t.oid, 0 from tenant t
    union
    select k.confrelid, r.depth + 1
    from reached r join pg_constraint k on k.contype = 'f' and k.conrelid = r.oid and k.confrelid <> k.conrelid
    where r.depth < 20
  )
  select t.name from tenant t join reached r on r.oid = t.oid
  group by t.name
  order by t.name not in ('sessions', 'tokens'), max(r.depth), t.name
$$;
revoke execute on function app.tenant_tables from public;
grant execute on function app.tenant_tables to consigliere_app, consigliere_system;
