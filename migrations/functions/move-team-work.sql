drop function if exists app.move_team_work;

-- Gives a team's open directives to another, or to none, with all their approvals and work packets, and its orders; and
-- what a person has to decide about any of these.
-- Orders that allow something are paused: nobody has allowed it there. Answers each directive and order with its first
-- line, and whether it is paused now.
create function app.move_team_work(p_workspace_id text, p_team_id text, p_to text)
  returns table (kind text, id text, title text, is_paused boolean)
  language plpgsql set search_path = public, pg_temp as $$
declare
  moving text[] := app.lock_team_work(p_workspace_id, p_team_id);
begin
  update approvals a set team_id = p_to where a.workspace_id = p_workspace_id and a.team_id = p_team_id
    and (a.directive_id = any (moving) or a.status = 'pending');
  update work_packets p set team_id = p_to where p.workspace_id = p_workspace_id and p.team_id = p_team_id
    and (p.directive_id = any (moving)
      or p.status in ('drafted', 'awaiting_approval', 'queued', 'sending', 'halted'));
  update escalations e set team_id = p_to where e.workspace_id = p_workspace_id and e.team_id = p_team_id
    and e.status = 'open' and (e.directive_id = any (moving) or e.entity_type = 'standing_order');
  return query update directives d set team_id = p_to
    where d.workspace_id = p_workspace_id and d.directive_id = any (moving)
    returning 'directive', d.directive_id, left(split_part(d.text, E'\n', 1), 120), false;
  return query
    with was as (
      select o.standing_order_id, o.effect = 'allow' and o.status in ('active', 'shadow') as pausing
      from standing_orders o where o.workspace_id = p_workspace_id and o.team_id = p_team_id and o.status <> 'archived'
      order by o.standing_order_id for no key update
    )
    update standing_orders o set team_id = p_to, updated_at = now(),
      status = case when was.pausing then 'paused' else o.status end
    from was where o.workspace_id = p_workspace_id and o.standing_order_id = was.standing_order_id
    returning 'standing_order', o.standing_order_id, o.name, was.pausing;
end $$;
revoke execute on function app.move_team_work from public;
grant execute on function app.move_team_work to consigliere_app;
