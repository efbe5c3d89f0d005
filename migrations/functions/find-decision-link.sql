drop function if exists app.find_decision_link;

-- The link with this id and the member it was mailed to, as they stand now: asked before a workspace is known, by whoever has
-- the link. A team that was archived gives no role any more.
create function app.find_decision_link(p_link_id text) returns table (
  link_id text, workspace_id text, workspace_name text, tier text, timezone text, member_id text, user_id text, name text,
  email text, role text, team_ids text[], team_roles jsonb, member_status text, asks_second_factor boolean,
  approval_id text, content_hash text, used_at timestamptz, decision text
) language sql stable security definer set search_path = public, pg_temp as $$
  select l.link_id, l.workspace_id, w.name, w.tier, w.timezone, m.member_id, m.user_id, u.display_name, u.email, m.role,
    array(select tm.team_id from team_members tm join teams using (team_id)
      where tm.member_id = m.member_id and archived_at is null order by tm.team_id),
    (select coalesce(jsonb_object_agg(tm.team_id, tm.role), '{}') from team_members tm join teams using (team_id)
      where tm.member_id = m.member_id and archived_at is null),
    -- A link does not outlive the membership it was made in, also when the same person joins again.
    case when m.status = 'active' and l.created_at < m.joined_at then 'rejoined' else m.status end,
    app.asks_second_factor(w.second_factor, m.role)
      or exists (select from second_factors f where f.user_id = m.user_id and f.confirmed_at is not null),
    l.approval_id, l.content_hash, l.used_at, l.decision
  from decision_links l
  join members m on m.member_id = l.member_id
  join users u on u.user_id = m.user_id
  join workspaces w on w.workspace_id = l.workspace_id
  where l.link_id = p_link_id
$$;
alter function app.find_decision_link owner to consigliere_system;
revoke execute on function app.find_decision_link from public;
grant execute on function app.find_decision_link to consigliere_app;
