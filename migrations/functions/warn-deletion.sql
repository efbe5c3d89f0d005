drop function if exists app.warn_deletion;

-- Notes that the owners of the transaction's own workspace are warned, once. A service that did not run when they were to
-- be warned gives them their day: the grace ends later then. Answers when it ends; null when there is nobody to warn.
create function app.warn_deletion() returns timestamptz
  language sql security definer set search_path = public, pg_temp as $$
  update workspace_deletions d set warned_at = now(), due_at = greatest(d.due_at, now() + interval '1 day')
  where d.workspace_id = current_setting('app.workspace_id', true) and d.warned_at is null
    and d.due_at <= now() + interval '1 day'
  returning d.due_at
$$;
revoke execute on function app.warn_deletion from public;
grant execute on function app.warn_deletion to consigliere_app;
