drop function if exists app.list_workspaces;

-- All workspaces of the service, for the first of them; to any other there are none. A workspace is invited until it has
-- an owner.
create function app.list_workspaces() returns table (
  workspace_id text, name text, tier text, state text, members bigint, created_at timestamptz, delete_at timestamptz
) language sql stable security definer set search_path = public, pg_temp as $$
  select w.workspace_id, w.name, w.tier,
    case when d.workspace_id is not null then 'deleting'
      when exists (select from members m
        where m.workspace_id = w.workspace_id and m.role = 'owner' and m.status = 'active') then 'active'
      else 'invited' end,
    (select count(*) from members m where m.workspace_id = w.workspace_id and m.status = 'active'),
    w.created_at, d.due_at
  from workspaces w left join workspace_deletions d on d.workspace_id = w.workspace_id
  where current_setting('app.workspace_id', true) = app.first_workspace()
$$;
alter function app.list_workspaces owner to consigliere_system;
revoke execute on function app.list_workspaces from public;
grant execute on function app.list_workspaces to consigliere_app;
