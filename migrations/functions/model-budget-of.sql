drop function if exists app.model_budget_of;

-- What the model calls of a workspace may use on one day, in this unit (amount, tokens): as set, else as its tier has it.
create function app.model_budget_of(p_workspace_id text, p_unit text, p_by_tier jsonb) returns numeric
  language sql stable set search_path = public, pg_temp as $$
  select coalesce(w.model_budget->>p_unit, p_by_tier->w.tier->>p_unit)::numeric from workspaces w
  where w.workspace_id = p_workspace_id
$$;
grant execute on function app.model_budget_of to consigliere_app;
