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
drop trigger check_approvers on teams;
drop function app.check_approvers();
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
alter table approvals
  add column quorum integer not null default 1 check (quorum >= 1),
  add column approvers jsonb not null default '[]',
  add column votes jsonb not null default '{}',
  add column missing_approvers integer not null default 0 check (missing_approvers >= 0),
  -- Votes are keyed by member, so nobody counts twice, and nothing is approved with fewer of them than it needs.
  add constraint approvals_votes_check check (status <> 'approved' or quorum = 1
    or jsonb_array_length(jsonb_path_query_array(votes, '$.keyvalue()')) >= quorum);
create index approvals_of_quorum on approvals (workspace_id)
  where status = 'pending' and (quorum > 1 or approvers <> '[]');

-- Whoever changes what members may do has the approvals checked that need several of them, or certain ones.
create function app.check_approvers() returns trigger
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into work_items (kind, id, workspace_id, queue, due_at)
  select 'approval.approvers', a.approval_id, a.workspace_id, a.workspace_id, now()
  from approvals a
  where a.workspace_id = coalesce(new.workspace_id, old.workspace_id) and a.status = 'pending' and a.ready
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
create trigger check_approvers after insert or delete or update of role on team_members
  for each row execute function app.check_approvers();
create trigger check_approvers after update of archived_at on teams
  for each row execute function app.check_approvers();

alter table escalations drop constraint escalations_kind_check,
  add constraint escalations_kind_check check (kind in (${KINDS}, 'approvers_missing'));
`;
