import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What decisions need to be right when they are made, and when they are made again as a work packet leaves. */
export class Policy1763700300000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(USES);
    await queryRunner.query(DEADLINES);
  }

  async down(): Promise<void> {
    throw new Error('this migration holds the records of work: restore a backup instead');
  }
}

/** A work packet that waited over the end of a window counts in the window in which it leaves. */
const USES = /* sql */ `
grant update (at) on standing_order_uses to consigliere_app;
`;

/** What is approved after the deadline comes too late; the approval knows it, so that deciding reads one row. */
const DEADLINES = /* sql */ `
alter table approvals add column deadline timestamptz;
update approvals a set deadline = d.deadline, expires_at = least(a.expires_at, d.deadline) from directives d
  where d.directive_id = a.directive_id and a.status = 'pending' and d.deadline is not null;
`;
