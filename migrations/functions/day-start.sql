drop function if exists app.day_start;

-- When the day begins in the zone, as startOf of the program has it (src/platform/kernel/local-day.ts): at the first of two
-- midnights, and where midnight is skipped as the clock jumps. PostgreSQL by itself takes the second of two, so that what
-- happened between them would belong to no day; the first is midnight by the offset that the zone had a day before.
create function app.day_start(p_day date, p_timezone text) returns timestamptz language plpgsql stable as $$
declare
  midnight constant timestamp := p_day;
  began constant timestamptz := midnight at time zone p_timezone;
  day_before constant timestamptz := began - interval '24 hours';
  offset_before constant interval := (day_before at time zone p_timezone) - (day_before at time zone 'UTC');
  first constant timestamptz := (midnight - offset_before) at time zone 'UTC';
begin
  return case when first < began and first at time zone p_timezone = midnight then first else began end;
end $$;
grant execute on function app.day_start to consigliere_app;
