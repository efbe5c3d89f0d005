import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The Daily Report goes to several members beside the configured address. Each of them has a row for each report: the mail of one can
 * fail, and be sent again, without the others. A recipient is a member or an address; a member's address is looked up as the mail
 * is sent. The columns of `reports` about delivery sum up all of its mails.
 */
export class ReportRecipients1766000000270 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
  }
}

const UP = /* sql */ `
alter table report_configs add column member_ids text[] not null default '{}' check (cardinality(member_ids) <= 20),
  drop constraint report_configs_check,
  add constraint report_configs_check check (not email or email_address is not null or cardinality(member_ids) > 0);

create table report_mails (
  workspace_id text not null references workspaces,
  mail_id text not null,
  report_id text not null,
  member_id text,
  address text check (char_length(address) <= 254),
  status text not null check (status in ('none', 'waiting', 'sending', 'sent', 'failed')),
  at timestamptz,
  error text,
  tries int not null default 0 check (tries >= 0),
  primary key (workspace_id, mail_id),
  foreign key (workspace_id, report_id) references reports,
  check ((member_id is null) <> (address is null))
);
create unique index report_mails_one_each on report_mails (workspace_id, report_id, coalesce(member_id, address));
select app.isolate('report_mails', false);
grant select, insert, update, delete on report_mails to consigliere_app;
`;

const DOWN = /* sql */ `
drop table report_mails;
alter table report_configs no force row level security;
update report_configs set email = false where email_address is null;
alter table report_configs force row level security;
alter table report_configs drop constraint report_configs_check, drop column member_ids,
  add constraint report_configs_check check (not email or email_address is not null);
`;
