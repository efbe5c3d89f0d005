import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a person has to decide because nothing else can (docs/decisions/0019). */
export class Escalations1764000000060 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(ESCALATIONS);
    await queryRunner.query(APPROVALS);
    await queryRunner.query(DIRECTIVES);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
  }
}

const ESCALATIONS = /* sql */ `
create table escalations (
  workspace_id text not null references workspaces,
  escalation_id text not null,
  team_id text,
  kind text not null check (kind in ('approval_expiring', 'approval_expired', 'packet_failed', 'budget_exceeded',
    'connector_red', 'compensation_failed', 'kill_unconfirmed')),
  status text not null check (status in ('open', 'resolved', 'dismissed')),
  entity_type text not null,
  entity_id text not null,
  directive_id text,
  reason text not null check (char_length(reason) between 1 and 1000),
  options text[] not null check (cardinality(options) > 0),
  count int not null default 1 check (count > 0),
  due_at timestamptz,
  created_at timestamptz not null,
  decided_at timestamptz,
  decided_by jsonb,
  decision text,
  note text check (char_length(note) <= 1000),
  outcome text,
  primary key (workspace_id, escalation_id),
  check ((status = 'open') = (decided_at is null)),
  check ((status = 'open') = (decided_by is null))
);
-- At most one of a kind is open about the same.
create unique index escalations_one_open on escalations (workspace_id, kind, entity_type, entity_id)
  where status = 'open';
create index escalations_open on escalations (workspace_id, least(due_at, timestamptz '2200-01-01 00:00:00+00'),
  created_at desc, escalation_id desc) where status = 'open';
create index escalations_by_status on escalations (workspace_id, status, created_at desc, escalation_id desc);
select app.isolate('escalations', true);
grant select, insert, update on escalations to consigliere_app;
`;

/** escalates_at: when a person is told that it is about to expire; null: nobody is, or has been already. */
const APPROVALS = /* sql */ `
alter table approvals add column escalates_at timestamptz, add column escalation_id text,
  add column extensions int not null default 0 check (extensions >= 0);
create index approvals_to_escalate on approvals (escalates_at)
  where status = 'pending' and frozen_ms is null and escalates_at is not null;
alter table approvals no force row level security;
update approvals set escalates_at = expires_at
  - least(interval '24 hours', greatest(interval '15 minutes', (expires_at - requested_at) / 4))
where status = 'pending' and ready and on_expiry = 'escalate';
alter table approvals force row level security;
`;

/** The one escalation that stands for this directive and others that failed in the same outage. */
const DIRECTIVES = /* sql */ `
alter table directives add column escalation_id text;
create index directives_of_escalation on directives (workspace_id, escalation_id) where escalation_id is not null;
`;

const DOWN = /* sql */ `
drop function if exists app.enqueue_expiring_approvals;
drop index directives_of_escalation;
alter table directives drop column escalation_id;
drop index approvals_to_escalate;
alter table approvals drop column escalates_at, drop column escalation_id, drop column extensions;
drop table escalations;
`;
