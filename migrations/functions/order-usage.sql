drop function if exists app.order_usage;

-- What each of these orders has let through by p_at: within the last hour and day, since midnight by currency, and within
-- the window of its budget. Exactly what counting all its uses would give, at a cost that does not grow with them: a use is
-- counted once, and taken off once. For whoever has locked the workspace's decisions, since it changes the counters.
create function app.order_usage(p_workspace_id text, p_order_ids text[], p_timezone text, p_at timestamptz)
  returns table (standing_order_id text, last_hour bigint, last_day bigint, amounts_today jsonb, budget_spent numeric,
    warned boolean)
  language plpgsql set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  hour_ago constant timestamptz := p_at - interval '1 hour';
  day_ago constant timestamptz := p_at - interval '1 day';
  midnight constant timestamptz := app.window_start('day', p_at, p_timezone);
  monday constant timestamptz := app.window_start('week', p_at, p_timezone);
  first_of_month constant timestamptz := app.window_start('month', p_at, p_timezone);
begin
  if cardinality(p_order_ids) = 0 then return; end if;

  insert into standing_order_usage (workspace_id, standing_order_id)
  select p_workspace_id, i.id from unnest(p_order_ids) i(id) where not exists (
    select from standing_order_usage u where u.workspace_id = p_workspace_id and u.standing_order_id = i.id)
  on conflict do nothing;

  update standing_order_usage u set hour_uses = f.hour_uses, hour_from = f.hour_from, hour_oldest = f.hour_oldest,
    day_uses = f.day_uses, day_from = f.day_from, day_oldest = f.day_oldest, day_since = midnight, amounts = f.amounts,
    window_since = f.window_since, spent = f.spent, last_at = f.last_at
  from (
    select c.standing_order_id, w.since as window_since,
      case when c.hour_uses is null or c.day_uses is null then coalesce((select max(s.at) from standing_order_uses s
          where s.workspace_id = p_workspace_id and s.standing_order_id = c.standing_order_id), '-infinity')
        else c.last_at end as last_at,
      -- A clock that went back sees what was already taken off as gone: a second, not a limit.
      greatest(c.hour_from, hour_ago) as hour_from,
      case
        when c.hour_uses is null then (select count(*) from standing_order_uses s
          where s.workspace_id = p_workspace_id and s.standing_order_id = c.standing_order_id and s.at > hour_ago)
        when c.last_at <= hour_ago then 0
        when c.hour_oldest > hour_ago then c.hour_uses
        else c.hour_uses - (select count(*) from standing_order_uses s
          where s.workspace_id = p_workspace_id and s.standing_order_id = c.standing_order_id
            and s.at > c.hour_from and s.at <= hour_ago) end as hour_uses,
      case when c.hour_uses is not null and c.hour_oldest > hour_ago then c.hour_oldest
        else (select min(s.at) from standing_order_uses s
          where s.workspace_id = p_workspace_id and s.standing_order_id = c.standing_order_id
            and s.at > greatest(c.hour_from, hour_ago)) end as hour_oldest,
      greatest(c.day_from, day_ago) as day_from,
      case
        when c.day_uses is null then (select count(*) from standing_order_uses s
          where s.workspace_id = p_workspace_id and s.standing_order_id = c.standing_order_id and s.at > day_ago)
        when c.last_at <= day_ago then 0
        when c.day_oldest > day_ago then c.day_uses
        else c.day_uses - (select count(*) from standing_order_uses s
          where s.workspace_id = p_workspace_id and s.standing_order_id = c.standing_order_id
            and s.at > c.day_from and s.at <= day_ago) end as day_uses,
      case when c.day_uses is not null and c.day_oldest > day_ago then c.day_oldest
        else (select min(s.at) from standing_order_uses s
          where s.workspace_id = p_workspace_id and s.standing_order_id = c.standing_order_id
            and s.at > greatest(c.day_from, day_ago)) end as day_oldest,
      -- Another day, or another zone: what there is since its midnight.
      case when c.day_since = midnight then c.amounts else (
        select coalesce(jsonb_object_agg(a.currency, a.amount), '{}') from (
          select s.currency, sum(s.amount) as amount from standing_order_uses s
          where s.workspace_id = p_workspace_id and s.standing_order_id = c.standing_order_id and s.at >= midnight
            and s.currency is not null group by s.currency) a) end as amounts,
      case when c.window_since = w.since then c.spent else (
        -- By the currency that the budget has now: a later version of the order may have another than its uses had.
        select coalesce(sum(s.amount), 0) from standing_order_uses s
        where s.workspace_id = p_workspace_id and s.standing_order_id = c.standing_order_id and s.at >= w.since
          and s.currency = o.budget->>'currency') end as spent
    from standing_order_usage c
    join standing_orders o on o.workspace_id = c.workspace_id and o.standing_order_id = c.standing_order_id
    cross join lateral (select case o.budget->>'window' when 'week' then monday when 'month' then first_of_month
      else midnight end as since) w
    where c.workspace_id = p_workspace_id and c.standing_order_id = any(p_order_ids)
      -- Rows that are as they should be are not written, and no use of theirs is looked at.
      and (c.hour_uses is null or c.day_uses is null or c.day_since <> midnight or c.window_since <> w.since
        or c.hour_oldest <= hour_ago or c.day_oldest <= day_ago)
  ) f
  where u.workspace_id = p_workspace_id and u.standing_order_id = f.standing_order_id;

  return query select u.standing_order_id, u.hour_uses, u.day_uses, u.amounts, u.spent, u.warned_since = u.window_since
  from standing_order_usage u where u.workspace_id = p_workspace_id and u.standing_order_id = any(p_order_ids);
end $$;
grant execute on function app.order_usage to consigliere_app;
