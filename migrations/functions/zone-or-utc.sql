drop function if exists app.zone_or_utc;

-- The zone, or UTC where this server's list of zones does not have it: a query that uses a stored zone goes through
-- here, so that a name which only the program knows, or which an update of the server dropped, breaks nothing.
create function app.zone_or_utc(p_zone text) returns text language plpgsql stable as $$
begin
  perform now() at time zone p_zone;
  return coalesce(p_zone, 'UTC');
exception when invalid_parameter_value then
  return 'UTC';
end $$;
