drop function if exists app.workspace_count;

create function app.workspace_count() returns bigint
  language sql stable security definer set search_path = public, pg_temp as 'select count(*) from workspaces';
alter function app.workspace_count owner to consigliere_system;
revoke execute on function app.workspace_count from public;
grant execute on function app.workspace_count to consigliere_app;
