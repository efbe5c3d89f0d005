import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What a team's work packet records is said in that team's words, so its row is the team's; what is reported to the service
 * belongs to the workspace, and so do the sums.
 */
export class RevenueOfTeams1763900000050 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
alter table revenue_events add column team_id text;
alter table revenue_events no force row level security;
alter table work_packets no force row level security;
update revenue_events e set team_id = p.team_id from work_packets p
where p.workspace_id = e.workspace_id and p.work_packet_id = e.work_packet_id and p.team_id is not null;
alter table work_packets force row level security;
alter table revenue_events force row level security;

select app.allow_system_reads('revenue_events');
do $$ begin
  drop policy isolation on revenue_events;
  execute format('create policy isolation on revenue_events using (%s and (team_id is null or %s))',
    app.own_workspace(), app.own_teams());
  -- Sums of what belongs to the workspace, which every member reads, and adds to by reporting revenue.
  drop policy isolation on tallies;
  execute format($policy$create policy isolation on tallies
    using (%s and (team_id is null and kind in ('revenue', 'partner') or %s))$policy$, app.own_workspace(), app.own_teams());
  drop policy isolation on tally_changes;
  execute format($policy$create policy isolation on tally_changes
    using (%s and (team_id is null and kind in ('revenue', 'partner') or %s))$policy$, app.own_workspace(), app.own_teams());
end $$;
`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
drop policy isolation on revenue_events;
drop policy system_reads on revenue_events;
drop policy isolation on tallies;
drop policy isolation on tally_changes;
select app.isolate('revenue_events', false), app.isolate('tallies', true), app.isolate('tally_changes', true);
revoke select on revenue_events from consigliere_system;
alter table revenue_events drop column team_id;
`);
  }
}
