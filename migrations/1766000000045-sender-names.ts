import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A sender's name is measured as every name is: by what people count as characters, each of which may be eight code points
 * (src/platform/kernel/visible-name.ts).
 */
export class SenderNames1766000000045 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `alter table workspaces drop constraint workspaces_sender_name_check,
         add constraint workspaces_sender_name_check check (length(sender_name) between 1 and 800)`,
    );
  }

  async down(): Promise<void> {
    throw new Error('a name of today may be longer than the former limit: restore a backup instead');
  }
}
