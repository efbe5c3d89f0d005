drop function if exists app.reserve_model_usage;

-- Reserves what a model call may use at most, before it is made, if the day's budget has so much left; the row of the day
-- is what concurrent calls wait for. Answers the day it was counted for, the budget, what calls have used and what others
-- under way have reserved of it, whether it was granted, whether somebody is to be told (once a day), and when the next
-- day begins. The call is over at p_until; what was reserved until then by a process that did not live to settle it is
-- taken for used.
create function app.reserve_model_usage(p_workspace_id text, p_at timestamptz, p_unit text, p_by_tier jsonb,
    p_amount numeric, p_tokens numeric, p_until timestamptz default null)
  returns table (day date, budget numeric, used numeric, reserved numeric, granted boolean, warn boolean, zone text,
    next_day_at timestamptz)
  language plpgsql set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  wanted constant numeric := case p_unit when 'amount' then p_amount else p_tokens end;
  usage model_usage;
begin
  zone := app.workspace_zone(p_workspace_id);
  day := app.day_of(p_at, zone);
  next_day_at := app.day_start(day + 1, zone);
  budget := app.model_budget_of(p_workspace_id, p_unit, p_by_tier);
  insert into model_usage (workspace_id, day) values (p_workspace_id, day) on conflict do nothing;
  select * into usage from model_usage u where u.workspace_id = p_workspace_id and u.day = reserve_model_usage.day for update;
  if usage.reserved_until < p_at then
    update model_usage u set reserved_amount = 0, reserved_tokens = 0, reserved_until = null
      where u.workspace_id = p_workspace_id and u.day = reserve_model_usage.day returning * into usage;
  end if;
  reserved := case p_unit when 'amount' then usage.reserved_amount else usage.reserved_tokens end;
  used := greatest(0, case p_unit when 'amount' then usage.amount else usage.tokens end - reserved);
  granted := used + reserved + wanted <= budget;
  -- What only waits for calls under way to end is no news.
  warn := not usage.warned and used + wanted > budget;
  if granted then
    update model_usage u set amount = u.amount + p_amount, tokens = u.tokens + p_tokens,
        reserved_amount = u.reserved_amount + p_amount, reserved_tokens = u.reserved_tokens + p_tokens,
        reserved_until = greatest(u.reserved_until, p_until)
      where u.workspace_id = p_workspace_id and u.day = reserve_model_usage.day;
  elsif warn then
    update model_usage u set warned = true where u.workspace_id = p_workspace_id and u.day = reserve_model_usage.day;
  end if;
  return next;
end $$;
grant execute on function app.reserve_model_usage to consigliere_app;
