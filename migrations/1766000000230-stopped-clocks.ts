import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A kill stops the clocks of all pending approvals by one moment in the guardian's row, not by a change of each of them (decision
 * 0058). A trigger keeps it, so that a kill by a process of the version before counts too.
 */
export class StoppedClocks1766000000230 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
lock table guardians, approvals in access exclusive mode;
alter table guardians add column clocks_stopped_at timestamptz;
alter table guardians no force row level security;
alter table approvals no force row level security;
update guardians g set clocks_stopped_at = coalesce(killed_at, (
    select min(a.expires_at - a.frozen_ms * interval '1 millisecond') from approvals a
    where a.workspace_id = g.workspace_id and a.status = 'pending' and a.frozen_ms > 0), now())
  where mode in ('killed', 'recovering');
alter table guardians force row level security;
alter table approvals force row level security;
create function app.stop_clocks() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  new.clocks_stopped_at := case when new.mode in ('killed', 'recovering')
    then coalesce(old.clocks_stopped_at, new.killed_at, now()) end;
  return new;
end $$;
create trigger stop_clocks before update on guardians for each row
  when (new.mode <> old.mode) execute function app.stop_clocks();
-- What has rested since its time came in a kill stays in the order of what soon expires.
drop index approvals_frozen, approvals_expiring_of_workspace;
create index approvals_expiring_of_workspace on approvals (workspace_id, expires_at) where status = 'pending';
`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
drop trigger stop_clocks on guardians;
drop function app.stop_clocks();
alter table guardians no force row level security;
alter table approvals no force row level security;
update approvals a set frozen_ms = greatest(0, round(extract(epoch from a.expires_at - greatest(a.requested_at, g.clocks_stopped_at)) * 1000))
  from guardians g where g.workspace_id = a.workspace_id and g.clocks_stopped_at is not null and a.status = 'pending';
alter table guardians force row level security;
alter table approvals force row level security;
alter table guardians drop column clocks_stopped_at;
drop index approvals_expiring_of_workspace;
create index approvals_expiring_of_workspace on approvals (workspace_id, expires_at) where status = 'pending' and frozen_ms is null;
create index approvals_frozen on approvals (workspace_id, frozen_ms) where status = 'pending' and frozen_ms is not null;
`);
  }
}
