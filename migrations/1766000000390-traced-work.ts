import type { MigrationInterface, QueryRunner } from 'typeorm';

const OF_TRANSACTION = `nullif(current_setting('app.traceparent', true), '')`;

/**
 * Work belongs to the trace of what enqueued it, wherever it is enqueued: a transaction that is traced says so in a setting. A
 * directive keeps its own, so that what is done once a person has decided belongs to the same trace.
 */
export class TracedWork1766000000390 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`alter table work_items add column traceparent text default ${OF_TRANSACTION}`);
    await queryRunner.query('alter table directives add column traceparent text');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table directives drop column traceparent');
    await queryRunner.query('alter table work_items drop column traceparent');
  }
}
