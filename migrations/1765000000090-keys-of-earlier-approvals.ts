import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Approvals that were ready before there were keys get one each: only a draft without work packets has none. */
export class KeysOfEarlierApprovals1765000000090 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
alter table approvals no force row level security;
update approvals set group_key = approval_id
where status = 'pending' and ready and group_key is null and jsonb_array_length(packets) > 0;
alter table approvals force row level security;`);
  }

  async down(): Promise<void> {
    // A key of its own is what they have under the former program, too.
  }
}
