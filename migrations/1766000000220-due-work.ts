import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What falls due in a span of time, of a kind of work, whatever its queue: app.due_work. A claim writes nothing into this index. */
export class DueWork1766000000220 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `create index work_items_due on work_items (kind, due_at) where not claimed and due_at < 'infinity'`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop index work_items_due');
  }
}
