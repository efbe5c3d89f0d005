import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A link can also save an edit, or send the draft back. */
export class EditsByLink1766000000050 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
alter table decision_links drop constraint decision_links_decision_check,
  add constraint decision_links_decision_check check (decision in ('approve', 'reject', 'revise', 'edit'));
`);
  }

  async down(): Promise<void> {
    throw new Error('this migration allows more uses of a decision link: restore a backup instead');
  }
}
