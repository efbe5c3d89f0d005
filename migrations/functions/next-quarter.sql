drop function if exists app.next_quarter;

-- The first whole quarter of an hour at or after a time.
create function app.next_quarter(p_at timestamptz) returns timestamptz language sql immutable
  return date_bin('15 minutes', p_at + interval '15 minutes' - interval '1 microsecond', timestamptz '2001-01-01 00:00:00+00');
grant execute on function app.next_quarter to consigliere_app;
