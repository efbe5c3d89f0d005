import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Each former secret of a destination signs until its own time, however many there were; and that a delivery is being sent
 * is said by its work alone.
 */
export class Webhooks1763700500000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(SECRETS);
    await queryRunner.query(STATUS);
  }

  async down(): Promise<void> {
    throw new Error('secrets that were rotated out would be lost: restore a backup instead');
  }
}

/** Row-level security holds for the owner as well, and would hide the rows from it. */
const SECRETS = /* sql */ `
alter table webhook_destinations add column former_secrets jsonb not null default '[]', add column fault text
  check (fault in ('secret', 'unexpected'));
alter table webhook_destinations no force row level security;
update webhook_destinations set former_secrets = jsonb_build_array(
  jsonb_build_object('sealed', previous_sealed_secret, 'until', app.ms(previous_until)))
where previous_sealed_secret is not null and previous_until > now();
alter table webhook_destinations force row level security;
alter table webhook_destinations drop column previous_sealed_secret, drop column previous_until;
`;

const STATUS = /* sql */ `
alter table webhook_deliveries no force row level security;
update webhook_deliveries set status = case attempts when '[]' then 'pending' else 'failed' end where status = 'sending';
alter table webhook_deliveries force row level security;
alter table webhook_deliveries drop constraint webhook_deliveries_status_check,
  add constraint webhook_deliveries_status_check check (status in ('pending', 'delivered', 'failed', 'dead'));
`;
