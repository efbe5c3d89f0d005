import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Checkpoints of the guardian, and reverts that go back to one (docs/decisions/0018). */
export class CheckpointsAndReverts1764000000040 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(CHECKPOINTS);
    await queryRunner.query(REVERTS);
    await queryRunner.query(REVERSALS);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
drop function app.take_checkpoint, app.canonical_json;
drop index revenue_events_reversed_once;
alter table revenue_events drop column reverses;
drop table revert_steps;
drop index reverts_running;
revoke update on reverts from consigliere_app;
alter table reverts drop column status, drop column checkpoint_id, drop column killed_at, drop column ended_at,
  drop column guardian_epoch, drop column receipt_id;
alter table guardians drop column kill_checkpoint_id, add column last_checkpoint_id text;
drop table guardian_checkpoints;
`);
  }
}

/**
 * Added by app.take_checkpoint alone and never changed. No foreign key: the kill switch adds one, and would wait for whoever
 * is changing the row of the workspace.
 */
const CHECKPOINTS = /* sql */ `
create table guardian_checkpoints (
  workspace_id text not null,
  checkpoint_id text not null,
  label text,
  taken_before text check (taken_before in ('kill', 'activation', 'pack_install')),
  created_by jsonb not null,
  created_at timestamptz not null,
  -- The head of the chain of receipts: what came behind it happened since.
  receipt_seq bigint not null,
  receipt_hash text not null,
  snapshot jsonb not null,
  hash text not null,
  primary key (workspace_id, checkpoint_id)
);
create index guardian_checkpoints_newest on guardian_checkpoints (workspace_id, created_at desc, checkpoint_id desc);
select app.isolate('guardian_checkpoints', false);
create policy system_adds on guardian_checkpoints for insert to consigliere_system with check (true);
grant select on guardian_checkpoints to consigliere_app;
grant insert on guardian_checkpoints to consigliere_system;

-- Nothing has written the former; the newest checkpoint is found by its time.
alter table guardians drop column last_checkpoint_id, add column kill_checkpoint_id text;
`;

const REVERTS = /* sql */ `
alter table reverts
  add column status text not null default 'done' check (status in ('running', 'stopped', 'done')),
  add column checkpoint_id text,
  -- When the kill came that it lifts once everything is undone.
  add column killed_at timestamptz,
  add column guardian_epoch bigint,
  add column receipt_id text,
  add column ended_at timestamptz;
-- One at a time undoes work packets.
create unique index reverts_running on reverts (workspace_id) where status = 'running';
grant update on reverts to consigliere_app;

-- One work packet that a revert undoes, the newest first.
create table revert_steps (
  workspace_id text not null references workspaces,
  revert_id text not null references reverts,
  position integer not null,
  work_packet_id text not null,
  team_id text,
  reversibility text not null,
  compensation jsonb,
  status text not null check (status in ('planned', 'done', 'failed', 'not_possible', 'skipped')),
  -- Why it was not undone, or what is known of the attempts so far.
  reason text,
  result jsonb,
  attempts integer not null default 0,
  -- Set while something outside may be under way.
  begun_at timestamptz,
  ended_at timestamptz,
  receipt_id text,
  primary key (workspace_id, revert_id, position),
  unique (workspace_id, work_packet_id, revert_id)
);
create index revert_steps_planned on revert_steps (workspace_id, revert_id, position) where status = 'planned';
select app.isolate('revert_steps', true);
grant select, insert, update on revert_steps to consigliere_app;
`;

/** An event that takes another back, once. */
const REVERSALS = /* sql */ `
alter table revenue_events add column reverses text;
create unique index revenue_events_reversed_once on revenue_events (workspace_id, reverses) where reverses is not null;
`;
