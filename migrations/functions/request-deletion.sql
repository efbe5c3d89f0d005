drop function if exists app.request_deletion;

-- Asks for the deletion of the transaction's own workspace in seven days; nobody can change it from then on. Answers why
-- not: it is the 'first' workspace, was not 'exported' within seven days, its deletion was 'requested' already. Null when it is asked for.
create function app.request_deletion(p_requested_by jsonb, p_engaged_kill boolean) returns text
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  own_workspace constant text := current_setting('app.workspace_id', true);
begin
  if own_workspace = app.first_workspace() then return 'first'; end if;
  if exists (select from workspace_deletions where workspace_id = own_workspace) then return 'requested'; end if;
  if not exists (select from workspace_exports e
      where e.workspace_id = own_workspace and e.completed_at > now() - interval '7 days') then
    return 'exported';
  end if;
  insert into workspace_deletions (workspace_id, requested_by, requested_at, due_at, engaged_kill)
  values (own_workspace, p_requested_by, now(), now() + interval '7 days', p_engaged_kill);
  update receipt_heads set read_only = true where workspace_id = own_workspace;
  return null;
end $$;
revoke execute on function app.request_deletion from public;
grant execute on function app.request_deletion to consigliere_app;
