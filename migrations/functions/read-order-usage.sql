drop function if exists app.read_order_usage;

-- What app.order_usage answers, for whoever only asks: nothing is locked and no counter is changed. A counter that a decision
-- would first bring up to date is brought up to date in the answer alone.
create function app.read_order_usage(p_workspace_id text, p_order_ids text[], p_timezone text, p_at timestamptz)
  returns table (standing_order_id text, last_hour bigint, last_day bigint, amounts_today jsonb, budget_spent numeric,
    warned boolean)
  language plpgsql stable set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  midnight constant timestamptz := app.window_start('day', p_at, p_timezone);
  monday constant timestamptz := app.window_start('week', p_at, p_timezone);
  first_of_month constant timestamptz := app.window_start('month', p_at, p_timezone);
begin
  return query select o.standing_order_id,
    case
      when c.hour_uses is null then (select count(*) from standing_order_uses s
        where s.workspace_id = p_workspace_id and s.standing_order_id = o.standing_order_id
          and s.at > p_at - interval '1 hour')
      when c.last_at <= p_at - interval '1 hour' then 0
      when c.hour_oldest > p_at - interval '1 hour' then c.hour_uses
      else c.hour_uses - (select count(*) from standing_order_uses s
        where s.workspace_id = p_workspace_id and s.standing_order_id = o.standing_order_id
          and s.at > c.hour_from and s.at <= p_at - interval '1 hour') end,
    case
      when c.day_uses is null then (select count(*) from standing_order_uses s
        where s.workspace_id = p_workspace_id and s.standing_order_id = o.standing_order_id
          and s.at > p_at - interval '1 day')
      when c.last_at <= p_at - interval '1 day' then 0
      when c.day_oldest > p_at - interval '1 day' then c.day_uses
      else c.day_uses - (select count(*) from standing_order_uses s
        where s.workspace_id = p_workspace_id and s.standing_order_id = o.standing_order_id
          and s.at > c.day_from and s.at <= p_at - interval '1 day') end,
    case when c.day_since = midnight then c.amounts else (
      select coalesce(jsonb_object_agg(a.currency, a.amount), '{}') from (
        select s.currency, sum(s.amount) as amount from standing_order_uses s
        where s.workspace_id = p_workspace_id and s.standing_order_id = o.standing_order_id
          and s.at >= midnight and s.currency is not null group by s.currency) a) end,
    case when c.window_since = w.since then c.spent else (
      select coalesce(sum(s.amount), 0) from standing_order_uses s
      where s.workspace_id = p_workspace_id and s.standing_order_id = o.standing_order_id and s.at >= w.since
        and s.currency = o.budget->>'currency') end,
    coalesce(c.warned_since = w.since, false)
  from standing_orders o
  left join standing_order_usage c on c.workspace_id = o.workspace_id and c.standing_order_id = o.standing_order_id
  cross join lateral (select case o.budget->>'window' when 'week' then monday when 'month' then first_of_month
    else midnight end as since) w
  where o.workspace_id = p_workspace_id and o.standing_order_id = any(p_order_ids);
end $$;
grant execute on function app.read_order_usage to consigliere_app;
