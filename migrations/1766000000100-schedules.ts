import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Schedules, the link from a directive to the one that made it, and the escalation of one that was paused (docs/decisions/0042). */
export class Schedules1766000000100 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(SCHEDULES);
    await queryRunner.query(DIRECTIVES);
    await queryRunner.query(kindsOfEscalations([...KINDS, 'schedule_paused']));
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
    await queryRunner.query(kindsOfEscalations(KINDS));
  }
}

const KINDS = [
  'approval_expiring',
  'approval_expired',
  'packet_failed',
  'budget_exceeded',
  'connector_red',
  'compensation_failed',
  'kill_unconfirmed',
];

const kindsOfEscalations = (kinds: string[]) => /* sql */ `
alter table escalations drop constraint escalations_kind_check,
  add constraint escalations_kind_check check (kind in (${kinds.map((kind) => `'${kind}'`).join(', ')}))`;

/** last_due_at: the due time that was handled last. What a paused schedule missed is not made up for, so it has no next run. */
const SCHEDULES = /* sql */ `
create table schedules (
  workspace_id text not null references workspaces,
  schedule_id text not null,
  team_id text,
  name text not null check (char_length(name) between 1 and 120),
  directive jsonb not null,
  rule jsonb not null,
  missed text not null check (missed in ('once', 'skip')),
  status text not null check (status in ('active', 'paused')),
  paused_reason text check (char_length(paused_reason) <= 1000),
  owner jsonb not null,
  requester_ids text[] not null check (cardinality(requester_ids) > 0),
  next_run_at timestamptz,
  last_due_at timestamptz,
  last_run_at timestamptz,
  last_directive_id text,
  created_by jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, schedule_id),
  check ((status = 'active') = (next_run_at is not null)),
  check (status = 'paused' or paused_reason is null)
);
create index schedules_due on schedules (next_run_at) where next_run_at is not null;
create index schedules_newest on schedules (workspace_id, created_at desc, schedule_id desc);
select app.isolate('schedules', true), app.allow_system_reads('schedules');
grant select, insert, update, delete on schedules to consigliere_app;
`;

/** scheduled_for: the due time; null: a person ran the schedule. One due time makes one directive, however many processes try. */
const DIRECTIVES = /* sql */ `
alter table directives add column schedule_id text, add column scheduled_for timestamptz,
  add constraint directives_scheduled check (scheduled_for is null or schedule_id is not null);
create unique index directives_one_per_due on directives (workspace_id, schedule_id, scheduled_for)
  where scheduled_for is not null;
create index directives_of_schedule on directives (workspace_id, schedule_id, created_at desc, directive_id desc)
  where schedule_id is not null;
`;

const DOWN = /* sql */ `
drop function if exists app.enqueue_due_schedules;
alter table escalations no force row level security;
delete from escalations where kind = 'schedule_paused';
alter table escalations force row level security;
alter table directives drop constraint directives_scheduled, drop column scheduled_for, drop column schedule_id;
drop table schedules;
`;
