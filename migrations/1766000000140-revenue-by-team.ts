import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Revenue is seen as every other record is (CONTRACT section 4, docs/decisions/0047): a team's by the team, that of no team by the
 * members of none. Sums are read from the figures by team, so the sums over all teams that everybody read are deleted.
 */
export class RevenueByTeam1766000000140 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
create or replace function app.count_revenue() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  insert into tally_changes (workspace_id, team_id, kind, key, bucket, n, amount) values
    (new.workspace_id, new.team_id, 'team_revenue', new.currency,
      date_bin('15 minutes', new.occurred_at, timestamptz '2001-01-01 00:00:00+00'), 1, new.amount);
  return null;
end $$;

drop function if exists app.revenue_since;
drop function if exists app.revenue_between;
drop policy reports_revenue on tally_changes;
drop policy system_reads on revenue_events;
revoke select on revenue_events from consigliere_system;
do $$ begin
  drop policy isolation on revenue_events;
  execute format('create policy isolation on revenue_events using (%s and %s)', app.own_workspace(), app.own_teams());
  drop policy isolation on tallies;
  execute format($policy$create policy isolation on tallies
    using (%s and (team_id is null and kind = 'partner' or %s))$policy$, app.own_workspace(), app.own_teams());
  drop policy isolation on tally_changes;
  execute format($policy$create policy isolation on tally_changes
    using (%s and (team_id is null and kind = 'partner' or %s))$policy$, app.own_workspace(), app.own_teams());
end $$;

alter table tallies no force row level security;
delete from tallies where kind = 'revenue';
alter table tallies force row level security;
alter table tally_changes no force row level security;
delete from tally_changes where kind = 'revenue';
alter table tally_changes force row level security;
`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
select app.allow_system_reads('revenue_events');
create or replace function app.count_revenue() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  insert into tally_changes (workspace_id, team_id, kind, key, bucket, n, amount) values
    (new.workspace_id, null, 'revenue', new.currency, date_trunc('hour', new.occurred_at, 'UTC'), 1, new.amount),
    (new.workspace_id, new.team_id, 'team_revenue', new.currency,
      date_bin('15 minutes', new.occurred_at, timestamptz '2001-01-01 00:00:00+00'), 1, new.amount);
  return null;
end $$;
do $$ begin
  drop policy isolation on revenue_events;
  execute format('create policy isolation on revenue_events using (%s and (team_id is null or %s))',
    app.own_workspace(), app.own_teams());
  drop policy isolation on tallies;
  execute format($policy$create policy isolation on tallies
    using (%s and (team_id is null and kind in ('revenue', 'partner') or %s))$policy$, app.own_workspace(), app.own_teams());
  drop policy isolation on tally_changes;
  execute format($policy$create policy isolation on tally_changes
    using (%s and (team_id is null and kind in ('revenue', 'partner') or %s))$policy$, app.own_workspace(), app.own_teams());
  execute format($policy$create policy reports_revenue on tally_changes for insert
    with check (%s and kind = 'team_revenue')$policy$, app.own_workspace());
end $$;
alter table tallies no force row level security;
alter table revenue_events no force row level security;
insert into tallies (workspace_id, team_id, kind, key, bucket, n, amount)
select workspace_id, null, 'revenue', currency, date_trunc('hour', occurred_at, 'UTC'), count(*), sum(amount)
from revenue_events group by 1, 4, 5;
alter table revenue_events force row level security;
alter table tallies force row level security;
`);
  }
}
