drop function if exists app.decision_time;

-- When a decision is made, in whole milliseconds, for the rest of the transaction also in the setting app.decided_at. Never before
-- the workspace's last decision: a clock that was set back would find orders in force again, and windows begun anew. For whoever
-- sees the whole workspace; a decision that counts something asks once it has locked the workspace's decisions.
create function app.decision_time(p_workspace_id text) returns timestamptz
  language plpgsql volatile set search_path = public, pg_temp as $$
declare
  last constant timestamptz := (
    select d.at from policy_decisions d where d.workspace_id = p_workspace_id order by d.at desc limit 1);
  decided_at constant timestamptz := greatest(date_trunc('milliseconds', app.clock()), last);
begin
  perform set_config('app.decided_at', decided_at::text, true);
  return decided_at;
end $$;
grant execute on function app.decision_time to consigliere_app;
