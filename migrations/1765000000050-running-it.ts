import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What Prometheus counts at each scrape is found by an index that holds nothing else; and the database knows where it is, so
 * that one restored from a backup is told from the original.
 */
export class RunningIt1765000000050 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
  }
}

const UP = /* sql */ `
create index connectors_red on connectors (workspace_id, kind, connector_id) where status = 'red';
create index webhook_destinations_paused on webhook_destinations (workspace_id)
  where status = 'paused' and deleted_at is null;

create table database_identity (
  is_only_row boolean primary key default true check (is_only_row),
  identity text not null check (identity ~ '^[0-9]+-[0-9]+$'),
  noted_at timestamptz not null default now()
);
revoke all on database_identity from public;
`;

const DOWN = /* sql */ `
drop function if exists app.red_connectors, app.paused_destinations;
drop table database_identity;
drop index connectors_red;
drop index webhook_destinations_paused;
`;
