drop function if exists app.answering_workspaces;

-- The workspaces that answer for connectors of the file, as the last start of a process left it.
create function app.answering_workspaces() returns table (workspace_id text)
  language sql stable security definer set search_path = public, pg_temp as
  'select distinct c.workspace_id from connectors c where c.kind = ''http''';
alter function app.answering_workspaces owner to consigliere_system;
revoke execute on function app.answering_workspaces from public;
grant execute on function app.answering_workspaces to consigliere_app;
