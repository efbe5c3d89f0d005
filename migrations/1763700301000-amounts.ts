import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Amounts per currency, and the packets' own namespace of revenue events. */
export class Amounts1763700301000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(AMOUNTS);
  }

  async down(): Promise<void> {
    throw new Error('this migration holds the records of work: restore a backup instead');
  }
}

/** Sums are given in one currency of the workspace's choice; ids of packets are no one else's external ids. */
const AMOUNTS = /* sql */ `
alter table workspaces add column currency text not null default 'USD' check (currency ~ '^[A-Z]{3}$');

alter table revenue_events add column work_packet_id text;
alter table revenue_events no force row level security;
update revenue_events set work_packet_id = external_id, external_id = null where recorded_by->>'type' = 'capo';
alter table revenue_events force row level security;
alter table revenue_events
  add constraint revenue_events_once_per_packet unique (workspace_id, work_packet_id);
`;
