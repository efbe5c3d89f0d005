import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What waits for a person is read by these, urgent first, instead of being sorted for each page. */
export class PendingApprovals1763800000042 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
  }
}

const UP = /* sql */ `
create index approvals_urgent on approvals (workspace_id, requested_at, approval_id)
  where status = 'pending' and (priority = 'high' or risk in ('high', 'critical'));
create index approvals_expiring_of_workspace on approvals (workspace_id, expires_at)
  where status = 'pending' and frozen_ms is null;
create index approvals_frozen on approvals (workspace_id, frozen_ms) where status = 'pending' and frozen_ms is not null;
-- approvals_by_status has the same rows in the same order.
drop index approvals_pending;
`;

const DOWN = /* sql */ `
drop index approvals_urgent, approvals_expiring_of_workspace, approvals_frozen;
create index approvals_pending on approvals (workspace_id, requested_at) where status = 'pending';
`;
