import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `app.find_caller` looks whether a team was archived. */
export class ArchivedTeams1763800000043 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`select app.allow_system_reads('teams')`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
drop policy system_reads on teams;
revoke select on teams from consigliere_system;
`);
  }
}
