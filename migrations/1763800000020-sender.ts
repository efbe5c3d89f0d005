import type { MigrationInterface, QueryRunner } from 'typeorm';

/** In whose name the mails of a workspace are written, and where answers to them go. */
export class Sender1763800000020 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
alter table workspaces
  add column sender_name text check (length(sender_name) between 1 and 100),
  add column sender_signature text check (length(sender_signature) between 1 and 1000),
  add column sender_reply_to text check (length(sender_reply_to) between 3 and 254);
`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
alter table workspaces drop column sender_name, drop column sender_signature, drop column sender_reply_to;
`);
  }
}
