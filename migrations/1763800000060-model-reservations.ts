import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What model calls that are under way have set aside, apart from what calls have used (docs/decisions/0009). */
export class ModelReservations1763800000060 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
-- The part of amount and tokens that calls under way may use at most; the rest has been used.
alter table model_usage
  add column reserved_amount numeric not null default 0,
  add column reserved_tokens numeric not null default 0,
  -- When every call that has set something aside is over; null: none has.
  add column reserved_until timestamptz;
`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
alter table model_usage drop column reserved_amount, drop column reserved_tokens, drop column reserved_until;
`);
  }
}
