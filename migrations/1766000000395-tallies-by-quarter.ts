import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Tallies by the quarter of an hour alone, where there were tallies by the hour and figures of the tiles by both. Each stands there for
 * one team (or none, '') and, under '*', for all of them, so that a reader reads the rows of one audience (docs/decisions/0059).
 */
export class TalliesByQuarter1766000000395 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(TALLIES);
    await queryRunner.query(FILL);
    await queryRunner.query(FORMER);
  }

  async down(): Promise<void> {
    throw new Error('sums by the hour are not kept: restore a backup instead');
  }
}

const TALLIES = /* sql */ `
lock table approvals, partner_events, tallies, kpi_figures, tally_changes in access exclusive mode;
alter table tallies rename to former_tallies;
alter table former_tallies drop constraint tallies_pkey, drop constraint tallies_once;
drop index tallies_of_all;

create table tallies (
  workspace_id text not null references workspaces,
  -- '' is no team; '*' every team and none together, so that the sum over many teams is no more rows than that over one.
  team_id text not null,
  kind text not null,
  key text not null,
  -- The quarter of an hour that it belongs to; -infinity for what is counted over all time.
  bucket timestamptz not null,
  n bigint not null,
  amount numeric not null,
  -- In the order in which they are read: one kind, an audience, a stretch of time.
  primary key (workspace_id, kind, team_id, bucket, key)
);
create index tallies_of_all on tallies (kind) where team_id = '*' and bucket = '-infinity';
-- By no column that a reader names: planned without knowing a value, a reader would take this index for its own.
create index tallies_to_delete on tallies (workspace_id, (bucket at time zone 'UTC')) where bucket > '-infinity';
alter table tallies enable row level security, force row level security;

-- Whose tallies the caller reads.
create function app.audience() returns text[] language sql stable
  return case when current_setting('app.team_ids', true) = '' then '{""}'
    else string_to_array(current_setting('app.team_ids', true), ',') end;
grant execute on function app.audience to consigliere_app;

do $$ begin
  -- What partners report belongs to no team, and is seen by every member.
  execute format($policy$create policy isolation on tallies using (%s and case
    when (select current_setting('app.team_ids', true)) = '*' or kind = 'partner' then true
    else team_id = any ((select app.audience())::text[]) end)$policy$, app.own_workspace());
end $$;
create policy system_folds on tallies to consigliere_system using (true);
grant select on tallies to consigliere_app;
grant select, insert, update, delete on tallies to consigliere_system;
`;

/**
 * What is counted over all time is copied, since some of what was counted has been deleted. Expired approvals and updates of the partner
 * were added up by the hour and are counted again; what was noted and not added up yet stays noted, except for these two.
 */
const FILL = /* sql */ `
do $$
declare
  source text;
  sources constant text[] := '{approvals,partner_events,tally_changes,former_tallies,kpi_figures,tallies}';
begin
  foreach source in array sources loop
    execute format('alter table %I no force row level security', source);
  end loop;

  delete from tally_changes where kind in ('approvals_expired', 'partner');
  insert into tallies (workspace_id, team_id, kind, key, bucket, n, amount)
  select workspace_id, team_id, kind, key, bucket, sum(n), sum(amount)
  from (
    select t.workspace_id, o.team_id, t.kind, t.key, t.bucket, t.n, t.amount
    from former_tallies t cross join lateral (values (coalesce(t.team_id, '')), ('*')) o (team_id)
    where t.bucket = '-infinity'
    union all
    select workspace_id, coalesce(team_id, ''), kind, key, bucket, n, amount from kpi_figures where minutes = 15
    union all
    select a.workspace_id, o.team_id, 'approvals_expired', '', app.quarter_of(a.decided_at), 1, 0
    from approvals a cross join lateral (values (coalesce(a.team_id, '')), ('*')) o (team_id)
    where a.status = 'expired' and a.decided_at > now() - interval '100 days'
    union all
    select workspace_id, '*', 'partner', metric, app.quarter_of(received_at), 1, delta::numeric
    from partner_events where received_at > now() - interval '100 days'
  ) former
  group by 1, 2, 3, 4, 5 having sum(n) <> 0 or sum(amount) <> 0;

  foreach source in array sources loop
    execute format('alter table %I force row level security', source);
  end loop;
end $$;
`;

/** A process of the version before still reads the tiles from their former table; a later migration drops the view. */
const FORMER = /* sql */ `
drop table former_tallies, kpi_figures;
create view kpi_figures with (security_invoker = true) as
select t.workspace_id, nullif(t.team_id, '') as team_id, t.kind, s.minutes, s.bucket, t.key, t.n, t.amount
from tallies t
  cross join lateral (values (15, t.bucket), (60, date_trunc('hour', t.bucket, 'UTC'))) s (minutes, bucket)
where t.bucket > '-infinity';
grant select on kpi_figures to consigliere_app;
`;
