drop function if exists app.settle_model_usage;

-- Puts what a model call has used in the place of what was reserved for it, on the day it was reserved: p_amount and
-- p_tokens are the difference. Answers whether somebody is to be told that four fifths of the budget are used up (once a
-- day); what other calls have reserved does not count for that.
create function app.settle_model_usage(p_workspace_id text, p_day date, p_unit text, p_by_tier jsonb,
    p_amount numeric, p_tokens numeric, p_reserved_amount numeric default 0, p_reserved_tokens numeric default 0)
  returns table (budget numeric, used numeric, warn boolean)
  language plpgsql set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  usage model_usage;
begin
  update model_usage u set amount = greatest(0, u.amount + p_amount), tokens = greatest(0, u.tokens + p_tokens),
      reserved_amount = greatest(0, u.reserved_amount - p_reserved_amount),
      reserved_tokens = greatest(0, u.reserved_tokens - p_reserved_tokens)
    where u.workspace_id = p_workspace_id and u.day = p_day returning * into usage;
  budget := app.model_budget_of(p_workspace_id, p_unit, p_by_tier);
  used := greatest(0, case p_unit when 'amount' then usage.amount - usage.reserved_amount
    else usage.tokens - usage.reserved_tokens end);
  warn := not usage.warned and used >= budget * 0.8;
  if warn then
    update model_usage u set warned = true where u.workspace_id = p_workspace_id and u.day = p_day;
  end if;
  return next;
end $$;
grant execute on function app.settle_model_usage to consigliere_app;
