import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a draft still lacks, why it is dangerous, who wrote what of it, and the approval that follows another draft. */
export class EditedDrafts1763800000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DRAFTS);
  }

  async down(): Promise<void> {
    throw new Error('what people have edited would be lost: restore a backup instead');
  }
}

const DRAFTS = /* sql */ `
alter table work_packets add column needs_input jsonb not null default '[]';

alter table approvals
  add column concerns jsonb not null default '[]',
  add column inputs_needed int not null default 0,
  add column revisions jsonb not null default '[]',
  add column next_approval_id text;
`;
