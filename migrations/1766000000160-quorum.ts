import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How many people have to approve, who they may be, and who has (docs/decisions/0049). */
export class Quorum1766000000160 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
drop trigger check_approvers on members;
drop trigger check_approvers on team_members;
drop trigger check_approvers_of_deleted on team_members;
drop trigger check_approvers on teams;
drop function app.check_approvers();
drop trigger forget_votes on approvals;
drop function app.forget_votes();
drop index approvals_of_quorum;
alter table approvals drop constraint approvals_votes_check,
  drop column quorum, drop column approvers, drop column votes, drop column missing_approvers;
delete from work_items where kind = 'approval.approvers';
alter table escalations no force row level security;
delete from escalations where kind = 'approvers_missing';
alter table escalations force row level security;
alter table escalations drop constraint escalations_kind_check,
  add constraint escalations_kind_check check (kind in (${KINDS}));
`);
  }
}

const KINDS = `'approval_expiring', 'approval_expired', 'packet_failed', 'budget_exceeded', 'connector_red', 'compensation_failed',
  'kill_unconfirmed', 'schedule_paused', 'action_unconfirmed'`;

const UP = /* sql */ `
-- In the order of the program: a change of members goes on to approvals, and a decision to escalations.
lock table teams, members, team_members in share row exclusive mode;
lock table approvals, escalations in access exclusive mode;
alter table approvals
  add column quorum integer not null default 1 check (quorum >= 1),
  add column approvers jsonb not null default '[]',
  add column votes jsonb not null default '{}',
  add column missing_approvers integer not null default 0 check (missing_approvers >= 0),
  -- Votes are keyed by member, so nobody counts twice, and nothing is approved with fewer of them than it needs. Processes of
  -- the version before write none, so they cannot approve what certain members have to approve.
  add constraint approvals_votes_check check (status <> 'approved' or quorum = 1 and approvers = '[]'
    or jsonb_array_length(jsonb_path_query_array(votes, '$.keyvalue()')) >= quorum);
create index approvals_of_quorum on approvals (workspace_id)
  where status = 'pending' and (quorum > 1 or approvers <> '[]');

-- A vote is for the content that was read. Processes of the version before edit it and know no votes.
create function app.forget_votes() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  new.votes := '{}';
  return new;
end $$;
create trigger forget_votes before update on approvals for each row
  when (new.content_hash is distinct from old.content_hash) execute function app.forget_votes();

-- Whoever changes what members may do has the approvals checked that need several of them, or certain ones.
create function app.check_approvers() returns trigger
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  changed text[];
begin
  if tg_level = 'ROW' then changed := array[new.workspace_id];
  else select array_agg(distinct workspace_id) into changed from deleted;
  end if;
  insert into work_items (kind, id, workspace_id, queue, due_at)
  select 'approval.approvers', a.approval_id, a.workspace_id, a.workspace_id, now()
  from approvals a
  where a.workspace_id = any (changed) and a.status = 'pending' and a.ready
    and (a.quorum > 1 or a.approvers <> '[]')
  order by a.approval_id
  -- An attempt that has read the members as they were is void.
  on conflict (kind, id) do update set due_at = now(), claimed = false, abort_requested = false,
    failures = 0, crashes = 0, last_error = null;
  return null;
end $$;
alter function app.check_approvers() owner to consigliere_system;
revoke execute on function app.check_approvers() from public;
create trigger check_approvers after insert or update of role, status on members
  for each row execute function app.check_approvers();
create trigger check_approvers after insert or update of role on team_members
  for each row execute function app.check_approvers();
-- One statement deletes all members of a team that is archived.
create trigger check_approvers_of_deleted after delete on team_members referencing old table as deleted
  for each statement execute function app.check_approvers();
create trigger check_approvers after update of archived_at on teams
  for each row execute function app.check_approvers();

alter table escalations drop constraint escalations_kind_check,
  add constraint escalations_kind_check check (kind in (${KINDS}, 'approvers_missing'));
`;
