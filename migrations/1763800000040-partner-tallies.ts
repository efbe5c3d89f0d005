import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The updates of the partner by the hour, so that the windows of `/context` do not read every update of seven days. */
export class PartnerTallies1763800000040 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
  }
}

const UP = /* sql */ `
-- An update is never changed, so only what comes in is counted.
create function app.count_partner_event() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  insert into tally_changes (workspace_id, team_id, kind, key, bucket, n, amount) values
    (new.workspace_id, null, 'partner', new.metric, date_trunc('hour', new.received_at, 'UTC'), 1, new.delta::numeric);
  return null;
end $$;
create trigger count_insert after insert on partner_events for each row execute function app.count_partner_event();

insert into tallies (workspace_id, team_id, kind, key, bucket, n, amount)
select workspace_id, null, 'partner', metric, date_trunc('hour', received_at, 'UTC'), count(*), sum(delta::numeric)
from partner_events group by 1, 4, 5;
`;

const DOWN = /* sql */ `
drop function if exists app.partner_since;
drop function app.count_partner_event cascade;
delete from tally_changes where kind = 'partner';
delete from tallies where kind = 'partner';
`;
