drop function if exists app.withdraw_deletion;

-- Takes the deletion of the transaction's own workspace back, until it has begun. Answers what became of it: 'none' was
-- asked for, it has 'begun', or 'withdrawn'.
create function app.withdraw_deletion() returns text
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  own_workspace constant text := current_setting('app.workspace_id', true);
  deletion workspace_deletions;
begin
  -- A deletion locks this row first: either the deletion has begun, or it finds nothing to begin with.
  select * into deletion from workspace_deletions d where d.workspace_id = own_workspace for update;
  if not found then return 'none'; end if;
  if deletion.begun_at is not null then return 'begun'; end if;
  delete from workspace_deletions d where d.workspace_id = own_workspace;
  update receipt_heads set read_only = false where workspace_id = own_workspace;
  return 'withdrawn';
end $$;
revoke execute on function app.withdraw_deletion from public;
grant execute on function app.withdraw_deletion to consigliere_app;
