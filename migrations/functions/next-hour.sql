drop function if exists app.next_hour;

-- The first whole hour, of UTC, at or after a time. Used only by processes of the previous release.
create function app.next_hour(p_at timestamptz) returns timestamptz language sql immutable
  return date_trunc('hour', p_at + interval '1 hour' - interval '1 microsecond', 'UTC');
grant execute on function app.next_hour to consigliere_app;
