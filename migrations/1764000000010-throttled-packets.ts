import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Work packets that standing orders delay, and warnings that a budget is nearly spent. */
export class ThrottledPackets1764000000010 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
-- Until when, and by which orders; both null for any other packet.
alter table work_packets add column throttled_until timestamptz, add column throttled_by text[];
create index work_packets_throttled on work_packets (workspace_id, throttled_until, work_packet_id)
  where status = 'queued' and throttled_until is not null;

-- The window of the budget in which somebody was warned that it is nearly spent.
alter table standing_order_usage add column warned_since timestamptz not null default '-infinity';
`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
drop index work_packets_throttled;
alter table work_packets drop column throttled_until, drop column throttled_by;
alter table standing_order_usage drop column warned_since;
`);
  }
}
