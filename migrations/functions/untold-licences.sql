drop function if exists app.untold_licences;

-- Workspaces whose licence has ended without their being told, or whose grace has.
create function app.untold_licences(p_now timestamptz, p_grace interval, p_limit int) returns table (workspace_id text)
  language sql stable security definer set search_path = public, pg_temp as $$
  select l.workspace_id from licences l
  where l.told_status <> 'expired' and l.expires_at <= p_now
    and (l.told_status = 'active' or l.expires_at <= p_now - p_grace)
  -- In no order: workspaces that cannot be told must not stand before the others.
  order by random() limit p_limit
$$;
alter function app.untold_licences owner to consigliere_system;
revoke execute on function app.untold_licences from public;
grant execute on function app.untold_licences to consigliere_app;
