import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The deliveries of one destination in the order of their list, which no other index has. */
export class DeliveryLists1763800000041 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
  }
}

const UP = /* sql */ `
-- By time first: an order by the id alone is that of the primary key too, and a planner that takes the key reads the
-- deliveries of every other destination on its way.
drop index webhook_deliveries_newest;
create index webhook_deliveries_newest on webhook_deliveries
  (workspace_id, destination_id, created_at desc, delivery_id desc);
-- No delivery has this status any more: what is being sent stands in work_items.
drop index webhook_deliveries_sending;
`;

const DOWN = /* sql */ `
drop index webhook_deliveries_newest;
create index webhook_deliveries_newest on webhook_deliveries (workspace_id, destination_id, delivery_id desc);
create index webhook_deliveries_sending on webhook_deliveries (destination_id) where status = 'sending';
`;
