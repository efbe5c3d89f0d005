import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What became of a report's mail is in `report_mails` alone: that of earlier reports too, by the address that is configured. */
export class ReportMailsOfBefore1766000000275 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
  }
}

const TABLES = ['reports', 'report_configs', 'report_mails'];
const force = (is: 'force' | 'no force') =>
  TABLES.map((table) => `alter table ${table} ${is} row level security;`).join('\n');

const UP = /* sql */ `
${force('no force')}
insert into report_mails (workspace_id, mail_id, report_id, address, status, at, error, tries)
select workspace_id, coalesce(r.mail_id, r.report_id), r.report_id, c.email_address, r.delivery_status, r.delivery_at,
  r.delivery_error, r.mail_tries
from reports r join report_configs c using (workspace_id)
where r.delivery_status in ('sent', 'failed') and c.email_address is not null
on conflict do nothing;
${force('force')}
alter table reports drop column delivery_error, drop column mail_id, drop column mail_tries;
`;

const DOWN = /* sql */ `
alter table reports add column delivery_error text, add column mail_id text,
  add column mail_tries int not null default 0 check (mail_tries >= 0);
`;
