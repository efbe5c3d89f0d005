import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The Daily Report (docs/decisions/0023): how each workspace wants it, the reports themselves, and sections of its own. */
export class Reports1765000000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(CONFIGS);
    await queryRunner.query(REPORTS);
    await queryRunner.query(SECTIONS);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
  }
}

/**
 * last_date: the last day that the schedule has seen to; null: it begins with the day on which it is first looked at. due_at:
 * when to look next; a change of the zone has it looked at now.
 */
const CONFIGS = /* sql */ `
create table report_configs (
  workspace_id text primary key references workspaces,
  sections jsonb not null default '{}',
  format text not null default 'email' check (format in ('email', 'plain-text', 'json')),
  schedule text not null default 'daily' check (schedule in ('daily', 'on-demand')),
  time text not null default '07:00' check (time ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'),
  timezone text,
  email boolean not null default false,
  email_address text check (char_length(email_address) <= 254),
  last_date text check (last_date ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'),
  due_at timestamptz not null default now(),
  check (not email or email_address is not null)
);
create index report_configs_due on report_configs (due_at);
alter table workspaces no force row level security;
insert into report_configs (workspace_id) select workspace_id from workspaces;
alter table workspaces force row level security;
select app.isolate('report_configs', false), app.allow_system_reads('report_configs');
grant select, insert, update on report_configs to consigliere_app;

create function app.begin_reports() returns trigger language plpgsql as $$
begin
  insert into public.report_configs (workspace_id) values (new.workspace_id);
  return null;
end $$;
create trigger begin_reports after insert on workspaces for each row execute function app.begin_reports();

create function app.look_at_reports() returns trigger language plpgsql as $$
begin
  update public.report_configs set due_at = now() where workspace_id = new.workspace_id;
  return null;
end $$;
create trigger look_at_reports after update of timezone on workspaces for each row
  when (new.timezone <> old.timezone) execute function app.look_at_reports();
`;

/** One for each day of a workspace, however many processes make it. An empty range has a last number below its first. */
const REPORTS = /* sql */ `
create table reports (
  workspace_id text not null references workspaces,
  report_id text not null,
  date text not null check (date ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'),
  zone text not null,
  currency text not null,
  format text not null check (format in ('email', 'plain-text', 'json')),
  trigger text not null check (trigger in ('schedule', 'on-demand')),
  headline text not null check (char_length(headline) between 1 and 300),
  sections jsonb not null,
  custom_sections jsonb not null,
  from_seq bigint not null check (from_seq > 0),
  to_seq bigint not null check (to_seq >= from_seq - 1),
  head_seq bigint not null check (head_seq >= to_seq),
  head_hash text not null,
  generated_at timestamptz not null,
  sections_until timestamptz,
  announced_at timestamptz,
  delivery_channel text not null check (delivery_channel in ('none', 'email')),
  delivery_status text not null check (delivery_status in ('none', 'waiting', 'sending', 'sent', 'failed')),
  delivery_at timestamptz,
  delivery_error text,
  mail_id text,
  mail_tries int not null default 0 check (mail_tries >= 0),
  primary key (workspace_id, report_id),
  constraint reports_one_a_day unique (workspace_id, date)
);
select app.isolate('reports', false);
grant select, insert, update on reports to consigliere_app;
`;

const SECTIONS = /* sql */ `
create table custom_report_sections (
  workspace_id text not null references workspaces,
  section_id text not null,
  title text not null check (char_length(title) between 1 and 120),
  directive text not null check (char_length(directive) between 1 and 4000),
  capo text not null,
  include_in_report boolean not null,
  created_by jsonb not null,
  created_at timestamptz not null,
  primary key (workspace_id, section_id)
);
select app.isolate('custom_report_sections', false);
grant select, insert, delete on custom_report_sections to consigliere_app;
`;

const DOWN = /* sql */ `
drop function if exists app.enqueue_due_reports;
drop table custom_report_sections;
drop table reports;
drop trigger look_at_reports on workspaces;
drop function app.look_at_reports;
drop trigger begin_reports on workspaces;
drop function app.begin_reports;
drop table report_configs;
`;
