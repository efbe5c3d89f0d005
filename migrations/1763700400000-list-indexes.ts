import type { MigrationInterface, QueryRunner } from 'typeorm';

/** One index for each way in which a long list is asked for, so that a page costs the same at any length. */
export class ListIndexes1763700400000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
  }
}

const UP = /* sql */ `
-- By id within one time, as the cursors go on. The order is part of the index, so the planner needs no statistics to
-- find that a page is its first rows: a table that was never analysed is read the same way.
drop index directives_newest, directives_open;
create index directives_newest on directives (workspace_id, created_at desc, directive_id desc);
create index directives_by_status on directives (workspace_id, status, created_at desc, directive_id desc);
create index directives_newest_of_capo on directives (workspace_id, capo, created_at desc, directive_id desc);
create index directives_by_capo_status on directives (workspace_id, capo, status, created_at desc, directive_id desc);
create index directives_newest_of_team on directives (workspace_id, team_id, created_at desc, directive_id desc)
  where team_id is not null;
-- A failed directive keeps no time of its own; it ended with the last change of its history.
create index directives_started on directives (workspace_id, started_at) where started_at is not null;
create index directives_failed on directives (workspace_id, capo, ((history->-1->>'at')::bigint) desc)
  where status = 'failed' and executed_at is null;

drop index work_packets_newest, work_packets_open, work_packets_denied;
create index work_packets_newest on work_packets (workspace_id, created_at desc, position, work_packet_id);
create index work_packets_by_status on work_packets (workspace_id, status, created_at desc, position, work_packet_id);
create index work_packets_by_capo_status on work_packets
  (workspace_id, capo, status, created_at desc, position, work_packet_id);
create index work_packets_newest_of_capo on work_packets
  (workspace_id, capo, created_at desc, position, work_packet_id);

drop index approvals_newest;
create index approvals_by_status on approvals (workspace_id, status, requested_at desc, approval_id desc);
create index approvals_by_capo_status on approvals (workspace_id, capo, status, requested_at desc, approval_id desc);
create index approvals_by_team_status on approvals (workspace_id, team_id, status, requested_at desc, approval_id desc)
  where team_id is not null;
create index approvals_decided on approvals (workspace_id, decided_at desc)
  where status in ('approved', 'rejected', 'changes_requested');
create index approvals_expired on approvals (workspace_id, decided_at) where status = 'expired';

drop index documents_newest;
create index documents_newest on documents (workspace_id, created_at desc, document_id desc) where withdrawn_at is null;

drop index signals_newest, signals_scored;
create index signals_newest on signals (workspace_id, created_at desc, signal_id desc) where withdrawn_at is null;
create index signals_open on signals (workspace_id, created_at desc) where withdrawn_at is null and acknowledged_at is null;
create index signals_snoozed on signals (workspace_id, snoozed_until)
  where withdrawn_at is null and acknowledged_at is null and snoozed_until is not null;
`;

const DOWN = /* sql */ `
drop index directives_newest, directives_by_status, directives_newest_of_capo, directives_by_capo_status,
  directives_newest_of_team, directives_started,
  directives_failed;
create index directives_newest on directives (workspace_id, created_at desc);
create index directives_open on directives (workspace_id, status)
  where status in ('pending_approval', 'queued', 'executing', 'sending', 'halted');
drop index work_packets_newest, work_packets_by_status, work_packets_by_capo_status, work_packets_newest_of_capo;
create index work_packets_newest on work_packets (workspace_id, created_at desc);
create index work_packets_open on work_packets (workspace_id, status)
  where status in ('awaiting_approval', 'queued', 'sending', 'halted');
create index work_packets_denied on work_packets (workspace_id, created_at) where status = 'denied';
drop index approvals_by_status, approvals_by_capo_status, approvals_by_team_status, approvals_decided,
  approvals_expired;
create index approvals_newest on approvals (workspace_id, requested_at desc);
drop index documents_newest;
create index documents_newest on documents (workspace_id, created_at desc);
drop index signals_newest, signals_open, signals_snoozed;
create index signals_newest on signals (workspace_id, created_at desc);
create index signals_scored on signals (workspace_id) where score is not null;
`;
