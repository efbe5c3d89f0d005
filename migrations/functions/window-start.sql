drop function if exists app.window_start;

-- When the day, week or month of the zone began in which p_at lies. Where the clock shows midnight twice it began with the
-- first of the two; date_trunc answers the second, so that what happened between them would belong to no day.
create function app.window_start(p_unit text, p_at timestamptz, p_timezone text) returns timestamptz
  language sql stable as $$
  select case when (began - interval '1 hour') at time zone p_timezone = began at time zone p_timezone
    then began - interval '1 hour' else began end
  from (select date_trunc(p_unit, p_at, p_timezone) as began) d
$$;
grant execute on function app.window_start to consigliere_app;
