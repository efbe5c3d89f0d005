import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * When a work packet was last handed out, by the chain of receipts: the epoch of the guardian, and the last receipt that
 * there was. Its outcome tells both, so that the receipts alone show whether it began while the kill switch was engaged.
 */
export class DispatchBegan1764000000080 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'alter table work_packets add column began_epoch bigint, add column began_seq bigint',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table work_packets drop column began_epoch, drop column began_seq');
  }
}
