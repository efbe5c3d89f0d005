import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What was tried outside: that it began, and what came of it, each a row that nothing changes. The work item says who may
 * begin; these rows say what happened, whoever has the work by then (docs/decisions/0034).
 */
export class OutsideAttempts1766000000030 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(ATTEMPTS);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`drop table outside_attempts;
      drop policy system_checks on connectors;
      revoke update (next_check_at) on connectors from consigliere_system`);
  }
}

const ATTEMPTS = /* sql */ `
create table outside_attempts (
  workspace_id text not null references workspaces,
  work_packet_id text not null,
  -- The revert whose undo it is; empty where the work packet itself is carried out.
  revert_id text not null default '',
  attempt integer not null,
  event text not null check (event in ('begun', 'ended')),
  at timestamptz not null default clock_timestamp(),
  outcome jsonb,
  primary key (workspace_id, work_packet_id, revert_id, attempt, event),
  check ((event = 'ended') = (outcome is not null))
);
create index outside_attempts_by_time on outside_attempts (workspace_id, at);
select app.isolate('outside_attempts', false);
grant select, insert on outside_attempts to consigliere_app;
create policy system_deletes on outside_attempts to consigliere_system using (true);
grant select, update, delete on outside_attempts to consigliere_system;

-- A login that was just refused has its connector checked at once, whichever workspace answers for it.
create policy system_checks on connectors for update to consigliere_system using (true);
grant update (next_check_at) on connectors to consigliere_system;
`;
