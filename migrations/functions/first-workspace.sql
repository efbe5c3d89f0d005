drop function if exists app.first_workspace;

-- The workspace that the first start made.
create function app.first_workspace() returns text
  language sql stable security definer set search_path = public, pg_temp as
  'select workspace_id from workspaces where is_first';
alter function app.first_workspace owner to consigliere_system;
revoke execute on function app.first_workspace from public;
grant execute on function app.first_workspace to consigliere_app;
