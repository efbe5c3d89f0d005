import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What the health of connectors is judged by beyond the check itself, and the newest list of revocations of each publisher, which
 * holds for every process and outlives a restart (docs/decisions/0025, 0026).
 */
export class ConnectorEvidence1765000000080 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(CONNECTORS);
    await queryRunner.query(REVOCATIONS);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
  }
}

/**
 * judged_attempt_at: when the attempt was made that the last check has counted, of what is known from what was sent.
 * signalled: a signal of ours says that it is red; alerted is set as well where the deliveries have said it.
 * postponed: how many times in a row a check was due that no running process knew how to make.
 */
const CONNECTORS = /* sql */ `
alter table connectors rename column well_since to healthy_since;
alter table connectors
  add column judged_attempt_at timestamptz,
  add column signalled boolean not null default false,
  add column postponed int not null default 0 check (postponed >= 0);
alter table connectors no force row level security;
update connectors set signalled = alerted where alerted;
alter table connectors force row level security;
alter table connectors add constraint connectors_signalled_check check (alerted or not signalled);
drop function if exists app.well_shares;
`;

/** A list counts while its key is one of SKILL_PACK_PUBLISHERS; of each key the one with the highest number is kept. */
const REVOCATIONS = /* sql */ `
create table revocation_lists (
  publisher text not null,
  public_key text not null,
  number bigint not null check (number > 0),
  list jsonb not null,
  kept_at timestamptz not null default now(),
  primary key (publisher, public_key)
);
revoke all on revocation_lists from public;
grant select, insert, update on revocation_lists to consigliere_system;
`;

const DOWN = /* sql */ `
drop function if exists app.revocation_lists_beyond, app.keep_revocation_list, app.visible_health_shares;
drop table revocation_lists;
alter table connectors drop constraint connectors_signalled_check;
alter table connectors drop column judged_attempt_at, drop column signalled, drop column postponed;
alter table connectors rename column healthy_since to well_since;
`;
