import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Workspaces beside the first: they are made with an invite to their owner, exported, and deleted a week after an owner
 * asked for it (docs/decisions/0013).
 */
export class Tenancy1763900000030 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(EXPORTS);
    await queryRunner.query(DELETIONS);
    await queryRunner.query(READ_ONLY);
    await queryRunner.query(RECEIPTS_GO_WITH_THEIR_WORKSPACE);
    await queryRunner.query(PEOPLE);
  }

  async down(): Promise<void> {
    throw new Error('deletions that were asked for would be lost: restore a backup instead');
  }
}

const EXPORTS = /* sql */ `
create table workspace_exports (
  export_id text primary key,
  workspace_id text not null references workspaces,
  asked_by jsonb not null,
  started_at timestamptz not null,
  completed_at timestamptz,
  sha256 text,
  lines bigint,
  bytes bigint,
  head_seq bigint,
  head_hash text,
  check ((completed_at is null) = (sha256 is null) and (completed_at is null) = (head_seq is null)
    and (completed_at is null) = (head_hash is null))
);
create index workspace_exports_completed on workspace_exports (workspace_id, completed_at desc)
  where completed_at is not null;
select app.isolate('workspace_exports', false);
grant select, insert, update on workspace_exports to consigliere_app;
`;

/**
 * The program reads this table and changes it through functions alone (migrations/functions): they set when the grace
 * ends, by the clock of the database, so that nothing the program does can shorten it.
 */
const DELETIONS = /* sql */ `
create table workspace_deletions (
  workspace_id text primary key references workspaces,
  requested_by jsonb not null,
  requested_at timestamptz not null,
  due_at timestamptz not null,
  engaged_kill boolean not null,
  warned_at timestamptz,
  begun_at timestamptz,
  rows_deleted bigint not null default 0
);
select app.isolate('workspace_deletions', false), app.allow_system_reads('workspace_deletions');
grant select on workspace_deletions to consigliere_app;
`;

/** It stands with the head, which every act locks anyhow: an act either comes before the change or sees it. */
const READ_ONLY = /* sql */ `
alter table receipt_heads add column read_only boolean not null default false;
`;

/**
 * Receipts and checkpoints are never changed, and deleted only with a workspace whose deletion has begun, which
 * app.delete_workspace alone can say.
 */
const RECEIPTS_GO_WITH_THEIR_WORKSPACE = /* sql */ `
create function app.refuse_deletion() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if old.workspace_id = current_setting('app.workspace_id', true) and exists (select from workspace_deletions d
      where d.workspace_id = old.workspace_id and d.begun_at is not null and d.due_at <= now()) then
    return old;
  end if;
  raise exception 'receipts are append-only' using errcode = 'restrict_violation';
end $$;
drop trigger receipts_are_final on receipts;
create trigger receipts_are_final before update or truncate on receipts
  for each statement execute function app.refuse_change();
create trigger receipts_go_with_their_workspace before delete on receipts
  for each row execute function app.refuse_deletion();
drop trigger checkpoints_are_final on receipt_checkpoints;
create trigger checkpoints_are_final before update or truncate on receipt_checkpoints
  for each statement execute function app.refuse_change();
create trigger checkpoints_go_with_their_workspace before delete on receipt_checkpoints
  for each row execute function app.refuse_deletion();
do $$
begin
  execute format('create policy deletion on receipts for delete using (%s)', app.own_workspace());
end $$;

-- Each directive that is deleted is looked for in these, over all workspaces.
create index approvals_of_directive on approvals (directive_id);
create index work_packets_by_directive on work_packets (directive_id);
`;

/** Whoever is a member of nothing any more goes with the last workspace. */
const PEOPLE = /* sql */ `
create policy system_deletes on users for delete to consigliere_system using (
  not exists (select from members m where m.user_id = users.user_id)
);
grant delete on users to consigliere_system;

-- What whoever invites calls the person; the page of the invite proposes it.
alter table invites add column invitee_name text;
`;
