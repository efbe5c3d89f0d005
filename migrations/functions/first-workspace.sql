drop function if exists app.first_workspace;

create function app.first_workspace() returns text
  language sql stable security definer set search_path = public, pg_temp as
  'select workspace_id from workspaces order by created_at, workspace_id limit 1';
alter function app.first_workspace owner to consigliere_system;
