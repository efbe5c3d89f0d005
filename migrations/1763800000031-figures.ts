import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What Prometheus asks for at each scrape is found by an index, whatever else the tables hold. */
export class Figures1763800000031 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
create index guardians_killed on guardians (workspace_id) where mode = 'killed';
create index tallies_of_all on tallies (kind) where bucket = '-infinity';
`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop index guardians_killed, tallies_of_all');
  }
}
