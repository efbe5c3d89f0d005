drop function if exists app.visible_connectors;

-- The connectors of the workspace, and those of others that are shared with it; no other workspace than that of the
-- transaction can be asked for. rank is the order in which they are listed, overdue that a check should have been made long
-- ago, unknown that no running process knows how to make it.
create function app.visible_connectors(p_workspace_id text) returns table (
  workspace_id text, connector_id text, kind text, subject text, rank int, name text, status text, reason text,
  latency_ms int, last_checked_at timestamptz, last_ok_at timestamptz, consecutive_failures int, overdue boolean,
  unknown boolean
) language sql stable security definer set search_path = public, pg_temp as $$
  select c.workspace_id, c.connector_id, c.kind, c.subject,
    array_position(array['database', 'queue', 'mail', 'model', 'partner', 'http', 'webhook'], c.kind), c.name, c.status,
    c.reason, c.latency_ms, c.last_checked_at, c.last_ok_at, c.consecutive_failures,
    c.next_check_at < now() - interval '10 minutes', c.postponed >= 3
  from (
    select * from connectors o where o.workspace_id = p_workspace_id
    union all
    select * from connectors o where o.workspace_id <> p_workspace_id and o.audience <> '{}'
      and ('*' = any(o.audience) or p_workspace_id = any(o.audience))
  ) c
  where p_workspace_id = current_setting('app.workspace_id', true)
$$;
alter function app.visible_connectors owner to consigliere_system;
revoke execute on function app.visible_connectors from public;
grant execute on function app.visible_connectors to consigliere_app;
