import type { MigrationInterface, QueryRunner } from 'typeorm';

/** One index for each way in which signals and revenue events are listed, in the order of the list. */
export class SignalAndRevenueLists1763800000030 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
  }
}

const UP = /* sql */ `
create index signals_newest_of_type on signals (workspace_id, type, created_at desc, signal_id desc)
  where withdrawn_at is null;
create index signals_newest_of_severity on signals (workspace_id, severity, created_at desc, signal_id desc)
  where withdrawn_at is null;
create index signals_newest_of_team on signals (workspace_id, team_id, created_at desc, signal_id desc)
  where withdrawn_at is null and team_id is not null;
create index signals_newest_acknowledged on signals (workspace_id, created_at desc, signal_id desc)
  where withdrawn_at is null and acknowledged_at is not null;
drop index signals_open;
create index signals_open on signals (workspace_id, created_at desc, signal_id desc)
  where withdrawn_at is null and acknowledged_at is null;

drop index revenue_events_by_time;
create index revenue_events_by_time on revenue_events (workspace_id, occurred_at desc, event_id desc);
create index revenue_events_by_source on revenue_events (workspace_id, source, occurred_at desc, event_id desc);
create index revenue_events_by_currency on revenue_events (workspace_id, currency, occurred_at desc, event_id desc);
`;

const DOWN = /* sql */ `
drop index signals_newest_of_type, signals_newest_of_severity, signals_newest_of_team, signals_newest_acknowledged,
  signals_open, revenue_events_by_time, revenue_events_by_source, revenue_events_by_currency;
create index signals_open on signals (workspace_id, created_at desc)
  where withdrawn_at is null and acknowledged_at is null;
create index revenue_events_by_time on revenue_events (workspace_id, occurred_at desc);
`;
