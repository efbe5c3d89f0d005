drop function if exists app.existing_workspaces;

-- Those of these workspaces that exist.
create function app.existing_workspaces(p_workspace_ids text[]) returns table (workspace_id text)
  language sql stable security definer set search_path = public, pg_temp as
  'select w.workspace_id from workspaces w where w.workspace_id = any(p_workspace_ids)';
alter function app.existing_workspaces owner to consigliere_system;
revoke execute on function app.existing_workspaces from public;
grant execute on function app.existing_workspaces to consigliere_app;
