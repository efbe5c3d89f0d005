drop function if exists app.workspace_zone;

-- The zone in which a workspace's days, weeks and months begin; one that the database does not know counts as UTC.
create function app.workspace_zone(p_workspace_id text) returns text language plpgsql stable as $$
begin
  return app.zone_or_utc((select timezone from public.workspaces where workspace_id = p_workspace_id));
end $$;
