drop function if exists app.paused_destinations;

-- How many destinations of events are paused, in all workspaces.
create function app.paused_destinations() returns bigint
  language sql stable security definer set search_path = public, pg_temp as
  $$ select count(*) from webhook_destinations where status = 'paused' and deleted_at is null $$;
alter function app.paused_destinations owner to consigliere_system;
revoke execute on function app.paused_destinations from public;
grant execute on function app.paused_destinations to consigliere_app;
