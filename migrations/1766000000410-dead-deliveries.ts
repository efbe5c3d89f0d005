import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The list of destinations counts the deliveries to each that were given up. */
export class DeadDeliveries1766000000410 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `create index webhook_deliveries_dead on webhook_deliveries (destination_id) where status = 'dead'`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop index webhook_deliveries_dead');
  }
}
