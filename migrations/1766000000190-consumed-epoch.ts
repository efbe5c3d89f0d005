import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A permit names the epoch under which it was taken, and is not given out again once a kill has come since. */
export class ConsumedEpoch1766000000190 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table action_requests add column guardian_epoch int');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table action_requests drop column guardian_epoch');
  }
}
