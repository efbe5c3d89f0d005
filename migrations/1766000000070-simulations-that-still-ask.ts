import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A simulation counts apart what an order allows although its directive asks a person anyway (docs/decisions/0039). Simulations are
 * computed again when somebody asks, so the earlier ones, which counted those as relaxed, are deleted.
 */
export class SimulationsThatStillAsk1766000000070 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
alter table simulations no force row level security;
delete from simulations;
alter table simulations force row level security;
alter table simulations add column still_asks integer not null default 0;
`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table simulations drop column still_asks');
  }
}
