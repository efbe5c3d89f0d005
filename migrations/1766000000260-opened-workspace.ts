import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * When a member last opened the workspace by a sign-in or by changing to it: the next sign-in opens the one that was opened last. Accepting
 * an invite does not count, so that nobody leads another person's next sign-in into a workspace of theirs.
 */
export class OpenedWorkspace1766000000260 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table members add column opened_at timestamptz');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table members drop column opened_at');
  }
}
