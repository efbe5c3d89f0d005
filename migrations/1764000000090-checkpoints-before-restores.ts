import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a restore replaces is kept under a name of its own, and not as if an order had become active. */
export class CheckpointsBeforeRestores1764000000090 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
alter table guardian_checkpoints drop constraint guardian_checkpoints_taken_before_check;
alter table guardian_checkpoints add constraint guardian_checkpoints_taken_before_check
  check (taken_before in ('kill', 'activation', 'restore', 'pack_install'));`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    // Those that are there already keep their name.
    await queryRunner.query(/* sql */ `
alter table guardian_checkpoints drop constraint guardian_checkpoints_taken_before_check;
alter table guardian_checkpoints add constraint guardian_checkpoints_taken_before_check
  check (taken_before in ('kill', 'activation', 'pack_install')) not valid;`);
  }
}
