import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A simulation of an order of the whole workspace also says what it comes to for the work packets of no team alone: that is what
 * members see who see no others (docs/decisions/0016). Simulations are made anew when somebody asks, so those without it go.
 */
export class SimulationShares1765000000074 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
alter table simulations no force row level security;
delete from simulations;
alter table simulations force row level security;
alter table simulations add column own jsonb not null;
`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table simulations drop column own');
  }
}
