drop function if exists app.order_usage;

-- What each of these orders has let through by p_at: within the last hour and day, since midnight by currency, and within the
-- window of its budget. Exactly what counting all its uses would give. Reads only; where is_settled is false, its counters are of
-- other windows, and app.settle_order_usage brings them up to date before the next use is counted.
create function app.order_usage(p_workspace_id text, p_order_ids text[], p_timezone text, p_at timestamptz)
  returns table (standing_order_id text, last_hour bigint, last_day bigint, amounts_today jsonb, budget_spent numeric,
    warned boolean, is_settled boolean, day_since timestamptz, window_since timestamptz, budget_currency text)
  language plpgsql stable set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  hour_ago constant timestamptz := p_at - interval '1 hour';
  day_ago constant timestamptz := p_at - interval '1 day';
  midnight constant timestamptz := app.window_start('day', p_at, p_timezone);
  monday constant timestamptz := app.window_start('week', p_at, p_timezone);
  first_of_month constant timestamptz := app.window_start('month', p_at, p_timezone);
begin
  return query select o.standing_order_id,
    case
      when c.hour_uses is null then (select count(*) from standing_order_uses s
        where s.workspace_id = p_workspace_id and s.standing_order_id = o.standing_order_id and s.at > hour_ago)
      when c.last_at <= hour_ago then 0
      when c.hour_from > hour_ago then c.hour_uses
      else c.hour_uses - (select count(*) from standing_order_uses s
        where s.workspace_id = p_workspace_id and s.standing_order_id = o.standing_order_id
          and s.at >= c.hour_from and s.at <= hour_ago) end,
    case
      when c.day_uses is null then (select count(*) from standing_order_uses s
        where s.workspace_id = p_workspace_id and s.standing_order_id = o.standing_order_id and s.at > day_ago)
      when c.last_at <= day_ago then 0
      when c.day_from > day_ago then c.day_uses
      else c.day_uses - (select count(*) from standing_order_uses s
        where s.workspace_id = p_workspace_id and s.standing_order_id = o.standing_order_id
          and s.at >= c.day_from and s.at <= day_ago) end,
    case when c.day_since = midnight then c.amounts else (
      select coalesce(jsonb_object_agg(a.currency, a.amount), '{}') from (
        select s.currency, sum(s.amount) as amount from standing_order_uses s
        where s.workspace_id = p_workspace_id and s.standing_order_id = o.standing_order_id
          and s.at >= midnight and s.currency is not null group by s.currency) a) end,
    -- By the currency that the budget has now: a later version of the order may have another than its uses had.
    case when c.window_since = w.since and c.currency = w.currency then c.spent else (
      select coalesce(sum(s.amount), 0) from standing_order_uses s
      where s.workspace_id = p_workspace_id and s.standing_order_id = o.standing_order_id and s.at >= w.since
        and s.currency = w.currency) end,
    coalesce(c.warned_since = w.since, false),
    coalesce(c.hour_from > hour_ago and c.day_from > day_ago and c.hour_uses is not null and c.day_uses is not null
      and c.day_since = midnight and c.window_since = w.since and c.currency is not distinct from w.currency, false),
    midnight, w.since, w.currency
  from standing_orders o
  left join standing_order_usage c on c.workspace_id = o.workspace_id and c.standing_order_id = o.standing_order_id
  cross join lateral (select o.budget->>'currency' as currency, case o.budget->>'window'
    when 'week' then monday when 'month' then first_of_month else midnight end as since) w
  where o.workspace_id = p_workspace_id and o.standing_order_id = any(p_order_ids);
end $$;
grant execute on function app.order_usage to consigliere_app;
