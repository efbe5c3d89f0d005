import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What is configured, how it was at each check, and when it is checked next (docs/decisions/0025). */
export class Connections1765000000020 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(CONNECTORS);
    await queryRunner.query(CHECKS);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
  }
}

/**
 * A connector stands in the workspace that answers for it: what the whole service has, in the first one. audience says who
 * else may see it: '*' for every workspace, else their ids. subject tells connectors of one kind apart: the id of a
 * destination, the name of a connector of the file.
 */
const CONNECTORS = /* sql */ `
create table connectors (
  workspace_id text not null references workspaces,
  connector_id text not null,
  kind text not null check (kind in ('database', 'queue', 'mail', 'model', 'partner', 'webhook', 'http')),
  subject text not null default '',
  name text not null check (char_length(name) between 1 and 300),
  audience text[] not null default '{}',
  status text not null default 'yellow' check (status in ('green', 'yellow', 'red')),
  reason text not null check (char_length(reason) between 1 and 300),
  latency_ms int check (latency_ms >= 0),
  last_checked_at timestamptz,
  last_ok_at timestamptz,
  consecutive_failures int not null default 0 check (consecutive_failures >= 0),
  checks bigint not null default 0 check (checks >= 0),
  last_change bigint not null default 0 check (last_change <= checks),
  next_check_at timestamptz not null,
  well_since timestamptz,
  alerted boolean not null default false,
  escalated boolean not null default false check (alerted or not escalated),
  alerts int not null default 0 check (alerts >= 0),
  recovered_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (workspace_id, connector_id),
  unique (workspace_id, kind, subject)
);
create index connectors_to_check on connectors (next_check_at);
create index connectors_shared on connectors (workspace_id) where audience <> '{}';
select app.isolate('connectors', false), app.allow_system_reads('connectors');
grant select, insert, update, delete on connectors to consigliere_app;
create policy system_discovers on connectors for insert to consigliere_system with check (true);
grant insert on connectors to consigliere_system;
`;

/** n counts the checks of a connector; changed: the status is another than that of the check before. */
const CHECKS = /* sql */ `
create table connector_checks (
  workspace_id text not null,
  connector_id text not null,
  n bigint not null check (n > 0),
  checked_at timestamptz not null,
  status text not null check (status in ('green', 'yellow', 'red')),
  reason text not null check (char_length(reason) between 1 and 300),
  latency_ms int check (latency_ms >= 0),
  changed boolean not null,
  primary key (workspace_id, connector_id, n),
  foreign key (workspace_id, connector_id) references connectors on delete cascade
);
create index connector_checks_changed on connector_checks (workspace_id, connector_id, n)
  include (checked_at, status) where changed;
create index connector_checks_to_let_go on connector_checks (workspace_id, checked_at) where not changed;
create index connector_changes_to_let_go on connector_checks (workspace_id, checked_at) where changed;
select app.isolate('connector_checks', false), app.allow_system_reads('connector_checks');
grant select, insert on connector_checks to consigliere_app;
create policy system_deletes on connector_checks for delete to consigliere_system using (true);
grant delete on connector_checks to consigliere_system;
`;

const DOWN = /* sql */ `
drop function if exists app.enqueue_due_checks, app.visible_connectors, app.well_shares, app.discover_connectors,
  app.waiting_unworked, app.answering_workspaces, app.existing_workspaces;
drop table connector_checks;
drop table connectors;
delete from work_items where kind in ('connector.check', 'service.check');
`;
