import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Members are also told of a directive that failed before anything was sent, and of a kill and its end. */
export class IncidentNotifications1766000000060 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`alter table notifications drop constraint notifications_kind_check,
      add constraint notifications_kind_check check (kind in ('approval', 'escalation', 'failure', 'kill'))`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`alter table notifications no force row level security`);
    await queryRunner.query(`delete from notifications where kind in ('failure', 'kill')`);
    await queryRunner.query(`alter table notifications force row level security`);
    await queryRunner.query(`alter table notifications drop constraint notifications_kind_check,
      add constraint notifications_kind_check check (kind in ('approval', 'escalation'))`);
  }
}
