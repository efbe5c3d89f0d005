drop function if exists app.day_of;

-- The day that it is in the zone, as dayOf of the program has it (src/platform/kernel/local-day.ts): each moment is in exactly
-- one. Where the clock is set back over midnight, the new day goes on.
create function app.day_of(p_at timestamptz, p_timezone text) returns date language plpgsql stable as $$
declare
  shown constant date := p_at at time zone p_timezone;
begin
  return case when p_at >= app.day_start(shown + 1, p_timezone) then shown + 1 else shown end;
end $$;
grant execute on function app.day_of to consigliere_app;
