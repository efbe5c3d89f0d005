import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * One table for all work that is due, whatever it is about (docs/decisions/0006): who may claim it when, under which
 * attempt, and how often it failed. Directives, work packets and deliveries lose the columns that said so for each.
 */
export class Work1763700000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(WORK);
    // Row-level security holds for an owner without superuser rights as well, and would hide the rows from it.
    for (const table of CARRIED) await queryRunner.query(`alter table ${table} no force row level security`);
    await queryRunner.query(CARRY_OVER);
    await queryRunner.query(CONTRACT);
    for (const table of CARRIED) await queryRunner.query(`alter table ${table} force row level security`);
  }

  async down(): Promise<void> {
    throw new Error('what is due stands in one table now: restore a backup instead');
  }
}

const CARRIED = [
  'directives',
  'work_packets',
  'webhook_deliveries',
  'webhook_destinations',
  'work_items',
  'work_breakers',
];

const WORK = /* sql */ `
-- No number of an attempt comes twice, whatever becomes of the item: the result of one that was stopped for a day is void.
create sequence work_attempts;
grant usage on sequence work_attempts to consigliere_system;

-- due_at is when anyone may claim the item: at once, at its next try, or when the lease of who has claimed it ends;
-- infinity while it is parked. attempt is the number of the claim, and a result counts only under the attempt that made it. failures
-- counts attempts that ended in an error nobody foresaw, crashes those whose process did not live to say how they ended.
create table work_items (
  kind text not null,
  id text not null,
  workspace_id text not null,
  queue text not null,
  due_at timestamptz not null,
  claimed boolean not null default false,
  claimed_by text not null default '',
  abort_requested boolean not null default false,
  attempt bigint not null default 0,
  failures int not null default 0,
  crashes int not null default 0,
  last_error jsonb,
  enqueued_at timestamptz not null default now(),
  primary key (kind, id)
) with (
  -- Rows live for milliseconds and are updated in between: the space of the dead has to come back soon, whatever share
  -- of the table they are, and statistics of a table that is empty one moment and long the next help nobody.
  fillfactor = 60, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_cost_delay = 0
);
create index work_items_by_queue on work_items (kind, queue, due_at);
create index work_items_in_flight on work_items (kind, queue) where claimed;
create index work_items_of_workspace on work_items (workspace_id, kind);
select app.isolate('work_items', false), app.allow_system_reads('work_items');
grant select, insert, update, delete on work_items to consigliere_app;
create policy system_claims on work_items for update to consigliere_system using (true);
create policy system_enqueues on work_items for insert to consigliere_system with check (true);
grant insert, update on work_items to consigliere_system;

-- A queue that is not worked on until opens_at, and then with one item at a time, each of which puts opens_at off again:
-- a circuit breaker. Its row goes when an item succeeds.
create table work_breakers (
  kind text not null,
  queue text not null,
  workspace_id text not null,
  opens_at timestamptz not null,
  retry_every interval not null,
  primary key (kind, queue)
);
select app.isolate('work_breakers', false), app.allow_system_reads('work_breakers');
grant select, insert, update, delete on work_breakers to consigliere_app;
create policy system_probes on work_breakers for update to consigliere_system using (true);
grant update on work_breakers to consigliere_system;
`;

const CARRY_OVER = /* sql */ `
-- What a kill or a pause holds back has no due_at, and is parked.
insert into work_items (kind, id, workspace_id, queue, due_at)
select 'directive.' || stage, directive_id, workspace_id, workspace_id, coalesce(due_at, 'infinity') from directives
where stage in ('route', 'draft') and status in ('pending_approval', 'queued', 'executing', 'halted');
insert into work_items (kind, id, workspace_id, queue, due_at)
select 'packet.send', work_packet_id, workspace_id, workspace_id, coalesce(due_at, 'infinity') from work_packets
where status in ('queued', 'sending', 'halted');
insert into work_items (kind, id, workspace_id, queue, due_at)
select 'webhook.deliver', delivery_id, workspace_id, destination_id, due_at from webhook_deliveries
where due_at is not null;
insert into work_breakers (kind, queue, workspace_id, opens_at, retry_every)
select 'webhook.deliver', destination_id, workspace_id, probe_at, interval '1 hour' from webhook_destinations
where probe_at is not null and deleted_at is null;
`;

const CONTRACT = /* sql */ `
drop function if exists app.overdue_work, app.due_destinations, app.take_deliveries, app.ring;
drop index directives_due, work_packets_due;
alter table directives drop column due_at, drop column attempts, drop column stage;
alter table work_packets drop column due_at, add column allowed_by text check (allowed_by in ('policy', 'person'));
update work_packets set allowed_by = case when decision->>'outcome' = 'allow' then 'policy' else 'person' end
where allowed_hash is not null;
-- The checks that name these columns go with them.
alter table webhook_deliveries drop column due_at, drop column takes;
alter table webhook_destinations drop column probe_at;
create index webhook_deliveries_waiting on webhook_deliveries (destination_id)
  where status in ('pending', 'failed');
select app.allow_system_reads('webhook_events');
drop schema if exists graphile_worker cascade;
`;
