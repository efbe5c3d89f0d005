import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A workspace may require a second factor of everyone, and not of owners and admins alone. */
export class SecondFactorOfEveryone1763900000011 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(SETTING);
  }

  async down(): Promise<void> {
    throw new Error('a setting would be lost: restore a backup instead');
  }
}

const SETTING = /* sql */ `
alter table workspaces drop constraint workspaces_second_factor_check;
alter table workspaces add constraint workspaces_second_factor_check
  check (second_factor in ('optional', 'required', 'everyone'));
`;
