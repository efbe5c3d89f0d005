import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What is put around the data of an event that a work packet posts: its time, its request and the head of the chain. It is
 * written when the packet is first sent, so that each try sends the same bytes.
 */
export class PacketEnvelopes1764000000030 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table work_packets add column envelope jsonb');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table work_packets drop column envelope');
  }
}
