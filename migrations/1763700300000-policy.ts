import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a decision needs when it is made a second time, as the work packet leaves. */
export class Policy1763700300000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(USES);
  }

  async down(): Promise<void> {
    throw new Error('this migration holds the records of work: restore a backup instead');
  }
}

/** A work packet that waited over the end of a window counts in the window in which it leaves. */
const USES = /* sql */ `
grant update (at) on standing_order_uses to consigliere_app;
`;
