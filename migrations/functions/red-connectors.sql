drop function if exists app.red_connectors;

-- How many connectors of each of these kinds are red, in all workspaces.
create function app.red_connectors(p_kinds text[]) returns table (kind text, n bigint)
  language sql stable security definer set search_path = public, pg_temp as $$
  select k.kind, count(c.connector_id) from unnest(p_kinds) k (kind)
  left join connectors c on c.kind = k.kind and c.status = 'red'
  group by k.kind
$$;
alter function app.red_connectors owner to consigliere_system;
revoke execute on function app.red_connectors from public;
grant execute on function app.red_connectors to consigliere_app;
