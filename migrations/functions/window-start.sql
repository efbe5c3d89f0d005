drop function if exists app.window_start;

-- When the day, week or month of the zone began in which p_at lies, as startOfWindow of the program has it. A week begins on
-- Monday.
create function app.window_start(p_unit text, p_at timestamptz, p_timezone text) returns timestamptz
  language plpgsql stable as $$
begin
  return app.day_start(date_trunc(p_unit, app.day_of(p_at, p_timezone)::timestamp)::date, p_timezone);
end $$;
grant execute on function app.window_start to consigliere_app;
