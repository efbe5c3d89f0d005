drop function if exists app.killed_workspaces;

create function app.killed_workspaces() returns bigint
  language sql stable security definer set search_path = public, pg_temp as
  $$ select count(*) from guardians where mode = 'killed' $$;
alter function app.killed_workspaces owner to consigliere_system;
revoke execute on function app.killed_workspaces from public;
grant execute on function app.killed_workspaces to consigliere_app;
