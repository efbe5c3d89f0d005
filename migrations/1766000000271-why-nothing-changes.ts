import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Why an order would have changed none of the decisions of the past, in a sentence. */
export class WhyNothingChanges1766000000271 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table simulations add column why text');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table simulations drop column why');
  }
}
