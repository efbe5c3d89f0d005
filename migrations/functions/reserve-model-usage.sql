drop function if exists app.reserve_model_usage;

-- Reserves what a model call may use at most, before it is made, if the day's budget has so much left; the row of the day
-- is what concurrent calls wait for. Answers the day it was counted for, the budget, whether it was granted, whether
-- somebody is to be told (once a day), and when the next day begins.
create function app.reserve_model_usage(p_workspace_id text, p_at timestamptz, p_unit text, p_by_tier jsonb,
    p_amount numeric, p_tokens numeric)
  returns table (day date, budget numeric, used numeric, granted boolean, warn boolean, zone text, next_day_at timestamptz)
  language plpgsql set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  wanted constant numeric := case p_unit when 'amount' then p_amount else p_tokens end;
  usage model_usage;
begin
  zone := app.workspace_zone(p_workspace_id);
  day := (p_at at time zone zone)::date;
  next_day_at := (day + 1)::timestamp at time zone zone;
  budget := app.model_budget_of(p_workspace_id, p_unit, p_by_tier);
  insert into model_usage (workspace_id, day) values (p_workspace_id, day) on conflict do nothing;
  select * into usage from model_usage u where u.workspace_id = p_workspace_id and u.day = reserve_model_usage.day for update;
  used := case p_unit when 'amount' then usage.amount else usage.tokens end;
  granted := used + wanted <= budget;
  -- A single call that is larger than the whole budget says so itself, to whoever asked for it.
  warn := not granted and not usage.warned and wanted <= budget;
  if granted then
    update model_usage u set amount = u.amount + p_amount, tokens = u.tokens + p_tokens
      where u.workspace_id = p_workspace_id and u.day = reserve_model_usage.day;
  elsif warn then
    update model_usage u set warned = true where u.workspace_id = p_workspace_id and u.day = reserve_model_usage.day;
  end if;
  return next;
end $$;
grant execute on function app.reserve_model_usage to consigliere_app;
