import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What agents from outside ask to do once, and the approvals of that, which belong to no directive (docs/decisions/0045). */
export class ActionRequests1766000000130 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
alter table approvals no force row level security;
delete from approvals where kind = 'action';
alter table approvals force row level security;
alter table approvals drop constraint approvals_about_check, drop constraint approvals_kind_check,
  drop column action_request_id, alter column directive_id set not null,
  add constraint approvals_kind_check check (kind in ('output', 'standing_order', 'budget_override'));
drop table action_requests;
alter table escalations no force row level security;
delete from escalations where kind = 'action_unconfirmed';
alter table escalations force row level security;
alter table escalations drop constraint escalations_kind_check,
  add constraint escalations_kind_check check (kind in (${KINDS}));
`);
  }
}

const KINDS = `'approval_expiring', 'approval_expired', 'packet_failed', 'budget_exceeded', 'connector_red', 'compensation_failed',
  'kill_unconfirmed', 'schedule_paused'`;

const UP = /* sql */ `
create table action_requests (
  action_request_id text primary key,
  workspace_id text not null references workspaces,
  team_id text references teams,
  token_root_id text not null,
  member_id text not null,
  requester_ids text[] not null,
  requested_by jsonb not null,
  agent text,
  tool text not null,
  params jsonb not null,
  params_hash text not null,
  reason text,
  run jsonb,
  external_id text,
  request_hash text not null,
  title text not null,
  fingerprint text,
  audience text not null,
  risk text not null check (risk in ('low', 'medium', 'high', 'critical')),
  reversibility text not null check (reversibility in ('read_only', 'reversible', 'externally_reversible', 'irreversible')),
  status text not null check (status in ('pending', 'allowed', 'approved', 'denied', 'rejected', 'expired', 'cancelled', 'consumed',
    'completed', 'failed', 'unconfirmed')),
  approval_id text,
  retry_at timestamptz,
  policy jsonb not null,
  decision jsonb,
  by_requester boolean not null,
  expires_at timestamptz not null,
  consume_in_seconds integer not null,
  complete_in_seconds integer not null,
  consume_by timestamptz,
  attempt text,
  consumed_at timestamptz,
  act_by timestamptz,
  complete_by timestamptz,
  result jsonb,
  ended_because text,
  due_at timestamptz,
  created_at timestamptz not null,
  receipt_id text not null,
  check ((consumed_at is null) = (attempt is null))
);
create unique index action_requests_external on action_requests (workspace_id, token_root_id, external_id)
  where external_id is not null;
create index action_requests_newest on action_requests (workspace_id, created_at desc, action_request_id desc);
create index action_requests_due on action_requests (due_at) where due_at is not null;
create index action_requests_open on action_requests (workspace_id, token_root_id)
  where status in ('pending', 'allowed', 'approved', 'consumed');
select app.isolate('action_requests', true);
grant select, insert, update on action_requests to consigliere_app;
create policy system_reads on action_requests for select to consigliere_system using (true);
grant select on action_requests to consigliere_system;

alter table approvals alter column directive_id drop not null,
  add column action_request_id text references action_requests,
  drop constraint approvals_kind_check,
  add constraint approvals_kind_check check (kind in ('output', 'standing_order', 'budget_override', 'action')),
  add constraint approvals_about_check check ((kind = 'action') = (action_request_id is not null)
    and (kind = 'action') = (directive_id is null));
create index approvals_of_action on approvals (workspace_id, action_request_id) where action_request_id is not null;

alter table escalations drop constraint escalations_kind_check,
  add constraint escalations_kind_check check (kind in (${KINDS}, 'action_unconfirmed'));
`;
