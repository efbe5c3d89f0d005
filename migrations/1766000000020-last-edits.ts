import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Who made the last edit of a draft, so that nobody else approves it without naming the content they have read
 * (docs/decisions/0033). Of edits made before it is not known who had seen the token: they are nobody's own.
 */
export class LastEdits1766000000020 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
alter table approvals add column last_edited_by text[];
alter table approvals no force row level security;
update approvals set last_edited_by = '{}' where status = 'pending' and jsonb_array_length(revisions) > 1;
alter table approvals force row level security;`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table approvals drop column last_edited_by');
  }
}
