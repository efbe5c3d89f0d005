drop function if exists app.memberships_of;

-- The workspaces that this account is an active member of, the one that it opened last first, then by age, and whether they
-- require a second factor of it.
create function app.memberships_of(p_user_id text)
  returns table (workspace_id text, workspace_name text, member_id text, role text,
    requires_second_factor boolean)
  language sql stable security definer set search_path = public, pg_temp as $$
  select m.workspace_id, w.name, m.member_id, m.role, app.asks_second_factor(w.second_factor, m.role)
  from members m join workspaces w on w.workspace_id = m.workspace_id
  where m.user_id = p_user_id and m.status = 'active'
  order by m.opened_at desc nulls last, m.joined_at, m.member_id
$$;
alter function app.memberships_of owner to consigliere_system;
revoke execute on function app.memberships_of from public;
grant execute on function app.memberships_of to consigliere_app;
