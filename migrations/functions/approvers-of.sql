drop function if exists app.approvers_of;

-- The active members who have at least p_least in this team, or where there is none (CONTRACT section 4), and whom each of
-- p_approvers names, by a role or as a member.
create function app.approvers_of(p_workspace_id text, p_team_id text, p_least text, p_approvers jsonb) returns text[]
  language sql stable set search_path = public, pg_temp as $$
  select coalesce(array_agg(m.member_id order by m.member_id), '{}')
  from (
    select m.member_id, case
      when m.role in ('owner', 'admin') then m.role
      when p_team_id is not null then (
        select tm.role from team_members tm join teams t on t.team_id = tm.team_id
        where tm.workspace_id = p_workspace_id and tm.team_id = p_team_id and tm.member_id = m.member_id
          and t.archived_at is null)
      when not exists (
        select from team_members tm join teams t on t.team_id = tm.team_id
        where tm.workspace_id = p_workspace_id and tm.member_id = m.member_id and t.archived_at is null) then m.role
      end as role
    from members m
    where m.workspace_id = p_workspace_id and m.status = 'active'
  ) m
  cross join lateral (select array['viewer', 'operator', 'admin', 'owner'] as roles) of
  cross join lateral (select array_position(of.roles, m.role) as rank) own
  where own.rank >= array_position(of.roles, p_least) and not exists (
    select from jsonb_array_elements(p_approvers) named
    where not named->'memberIds' ? m.member_id and not exists (
      select from jsonb_array_elements_text(named->'roles') least
      where array_position(of.roles, least) <= own.rank))
$$;
revoke execute on function app.approvers_of from public;
grant execute on function app.approvers_of to consigliere_app;
