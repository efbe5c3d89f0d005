drop function if exists app.mark_budget_warned;

-- Notes that somebody was warned of an order's budget in its present window. For whoever has locked the workspace's
-- decisions.
create function app.mark_budget_warned(p_workspace_id text, p_standing_order_id text) returns void
  language sql set search_path = public, pg_temp as $$
  update standing_order_usage set warned_since = window_since
  where workspace_id = p_workspace_id and standing_order_id = p_standing_order_id
$$;
grant execute on function app.mark_budget_warned to consigliere_app;
