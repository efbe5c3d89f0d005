drop function if exists app.settle_order_usage;

-- Has the counters of these orders say what app.order_usage does, from the oldest use on that still counts: each use is counted
-- once, and taken off once. For whoever has locked the workspace's decisions, and is about to count a use.
create function app.settle_order_usage(p_workspace_id text, p_order_ids text[], p_timezone text, p_at timestamptz)
  returns void language sql set search_path = public, pg_temp as $$
  insert into standing_order_usage as c (workspace_id, standing_order_id, hour_uses, hour_from, day_uses, day_from, last_at,
    day_since, amounts, window_since, currency, spent)
  select p_workspace_id, u.standing_order_id,
    u.last_hour, coalesce((select min(s.at) from standing_order_uses s where s.workspace_id = p_workspace_id
      and s.standing_order_id = u.standing_order_id and s.at > p_at - interval '1 hour'), p_at),
    u.last_day, coalesce((select min(s.at) from standing_order_uses s where s.workspace_id = p_workspace_id
      and s.standing_order_id = u.standing_order_id and s.at > p_at - interval '1 day'), p_at),
    coalesce((select max(s.at) from standing_order_uses s where s.workspace_id = p_workspace_id
      and s.standing_order_id = u.standing_order_id), '-infinity'),
    u.day_since, u.amounts_today, u.window_since, u.budget_currency, u.budget_spent
  from app.order_usage(p_workspace_id, p_order_ids, p_timezone, p_at) u
  on conflict (workspace_id, standing_order_id) do update set hour_uses = excluded.hour_uses, hour_from = excluded.hour_from,
    day_uses = excluded.day_uses, day_from = excluded.day_from, last_at = excluded.last_at, day_since = excluded.day_since,
    amounts = excluded.amounts, window_since = excluded.window_since, currency = excluded.currency, spent = excluded.spent
$$;
grant execute on function app.settle_order_usage to consigliere_app;
