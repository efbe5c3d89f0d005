import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A trigger calls it whoever may: nobody else needs to. The other functions with their owner's rights are in files of their own. */
export class BeginChainByTriggerOnly1766000000010 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('revoke execute on function app.begin_chain from public');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('grant execute on function app.begin_chain to public');
  }
}
