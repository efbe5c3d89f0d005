import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Invited people can be chosen as recipients of reports before they accept. */
export class InvitedRecipients1766000000420 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
      alter table report_configs
        add column invite_ids text[] not null default '{}' check (cardinality(invite_ids) <= 20),
        drop constraint report_configs_check,
        add constraint report_configs_check
          check (not email or email_address is not null or cardinality(member_ids) + cardinality(invite_ids) > 0)`);
  }

  async down(): Promise<void> {
    throw new Error(
      'a workspace that names invited people alone could not mail reports: restore a backup instead',
    );
  }
}
