import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What is kept for how long (docs/retention.md), and indexes that lead to what is to be let go. */
export class Retention1763700403000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
  }
}

const UP = /* sql */ `
-- Days by subject; a subject that is not named has its default.
alter table workspaces add retention jsonb not null default '{}'
  check (jsonb_typeof(retention) = 'object');

create index webhook_deliveries_ended on webhook_deliveries (workspace_id, created_at)
  where status in ('delivered', 'dead');
create index webhook_deliveries_of_event on webhook_deliveries (event_id);
create index webhook_events_by_age on webhook_events (workspace_id, created_at);
create index signals_acknowledged on signals (workspace_id, acknowledged_at) where acknowledged_at is not null;
create index signals_withdrawn on signals (workspace_id, withdrawn_at) where withdrawn_at is not null;
create index documents_withdrawn on documents (workspace_id, withdrawn_at) where withdrawn_at is not null;

select app.allow_system_reads('standing_orders');
create policy system_lets_go on webhook_deliveries to consigliere_system using (true);
create policy system_lets_go on webhook_events to consigliere_system using (true);
create policy system_lets_go on standing_order_uses to consigliere_system using (true);
create policy system_lets_go on signals to consigliere_system using (true);
create policy system_lets_go on documents to consigliere_system using (true);
create policy system_lets_go on partner_events to consigliere_system using (true);
-- An update right is what locking a row takes.
grant select, update, delete on webhook_deliveries, webhook_events, standing_order_uses, signals, documents,
  partner_events to consigliere_system;
`;

const DOWN = /* sql */ `
drop function if exists app.let_go;
drop index webhook_deliveries_ended, webhook_deliveries_of_event, webhook_events_by_age,
  signals_acknowledged, signals_withdrawn, documents_withdrawn;
drop policy system_reads on standing_orders;
revoke select on standing_orders from consigliere_system;
drop policy system_lets_go on webhook_deliveries;
drop policy system_lets_go on webhook_events;
drop policy system_lets_go on standing_order_uses;
drop policy system_lets_go on signals;
drop policy system_lets_go on documents;
drop policy system_lets_go on partner_events;
revoke delete on webhook_deliveries, webhook_events, standing_order_uses, signals, documents, partner_events
  from consigliere_system;
alter table workspaces drop column retention;
`;
