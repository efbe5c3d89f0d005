import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What its requester approved is told apart, so that an order which wants other eyes is held against it when it leaves. */
export class AllowedByRequester1764000000100 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
alter table work_packets drop constraint work_packets_allowed_by_check;
alter table work_packets add constraint work_packets_allowed_by_check
  check (allowed_by in ('policy', 'person', 'requester'));`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
update work_packets set allowed_by = 'person' where allowed_by = 'requester';
alter table work_packets drop constraint work_packets_allowed_by_check;
alter table work_packets add constraint work_packets_allowed_by_check check (allowed_by in ('policy', 'person'));`);
  }
}
