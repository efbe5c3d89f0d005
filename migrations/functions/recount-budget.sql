drop function if exists app.recount_budget;

-- Has the next decision count anew what an order's budget has paid for in its present window: since the budget changed, that
-- is another sum. For whoever has locked the workspace's decisions.
create function app.recount_budget(p_workspace_id text, p_standing_order_id text) returns void
  language sql set search_path = public, pg_temp as $$
  update standing_order_usage set window_since = '-infinity', warned_since = '-infinity'
  where workspace_id = p_workspace_id and standing_order_id = p_standing_order_id
$$;
grant execute on function app.recount_budget to consigliere_app;
