import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What a transaction changes in the tallies is one row for each of its teams, where it was one for each change: half of what was written
 * for the tallies were these rows and their index (docs/decisions/0059). `tally_changes` is a view of them.
 */
export class TalliesByTransaction1766000000460 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(NOTES);
    await queryRunner.query(TRIGGERS);
  }

  async down(): Promise<void> {
    throw new Error('the former triggers stand in an earlier migration: restore a backup instead');
  }
}

const NOTES = /* sql */ `
lock table approvals, directives, work_packets, action_requests, signals, partner_events, revenue_events, eval_runs,
  model_charges, tally_changes in access exclusive mode;
alter table tally_changes rename to former_changes;

create table tally_notes (
  workspace_id text not null,
  transaction xid8 not null,
  -- '' is no team; '*' what belongs to none and every member sees.
  team_id text not null,
  changes app.counted_as[] not null,
  primary key (workspace_id, transaction, team_id)
) with (fillfactor = 60);
alter table tally_notes enable row level security, force row level security;
do $$ begin
  execute format($policy$create policy isolation on tally_notes using (%s and case
    when (select current_setting('app.team_ids', true)) = '*' or team_id = '*' then true
    else team_id = any ((select app.audience())::text[]) end)$policy$, app.own_workspace());
end $$;
create policy system_folds on tally_notes to consigliere_system using (true);
grant select on tally_notes to consigliere_app;
grant select, insert, update, delete on tally_notes to consigliere_system;

alter table former_changes no force row level security;
alter table tally_notes no force row level security;
insert into tally_notes (workspace_id, transaction, team_id, changes)
select workspace_id, pg_current_xact_id(), case kind when 'partner' then '*' else coalesce(team_id, '') end,
  array_agg((kind, key, bucket, n, amount)::app.counted_as)
from former_changes group by 1, 3;
alter table tally_notes force row level security;
drop table former_changes;

-- Leaves room beside a row for its next version, which then writes no index.
alter table tallies set (fillfactor = 70);

create view tally_changes with (security_invoker = true) as
select t.workspace_id, nullif(nullif(t.team_id, ''), '*') as team_id, c.kind, c.key, c.bucket, c.n, c.amount
from tally_notes t cross join lateral unnest(t.changes) c;
grant select on tally_changes to consigliere_app, consigliere_system;
`;

/** The newer changes stand in front, so that of those behind them nothing is written once more. */
const TRIGGERS = /* sql */ `
do $$
declare
  source record;
begin
  for source in select * from (values
    ('directives', 'coalesce(team_id, '''')'), ('approvals', 'coalesce(team_id, '''')'),
    ('work_packets', 'coalesce(team_id, '''')'), ('action_requests', 'coalesce(team_id, '''')'),
    ('signals', 'coalesce(team_id, '''')'), ('partner_events', '''*'''), ('revenue_events', 'coalesce(team_id, '''')'),
    ('eval_runs', 'coalesce(team_id, '''')'), ('model_charges', 'coalesce(team_id, '''')')
  ) s (name, team) loop
    execute format($function$
create or replace function app.count_%1$s() returns trigger language plpgsql security definer
  set search_path = public, pg_temp as $body$
begin
  if tg_op = 'INSERT' then
    insert into tally_notes as noted (workspace_id, transaction, team_id, changes)
    select s.workspace_id, pg_current_xact_id(), s.team, array_agg((s.kind, s.key, s.bucket, s.n, s.amount)::app.counted_as)
    from (
      select r.workspace_id, %2$s as team, c.kind, c.key, c.bucket, sum(c.n)::int as n, sum(c.amount) as amount
      from new_rows r cross join lateral app.counts_of(r::%1$s) c
      group by 1, 2, 3, 4, 5
    ) s group by s.workspace_id, s.team
    on conflict (workspace_id, transaction, team_id) do update set changes = excluded.changes || noted.changes;
  else
    insert into tally_notes as noted (workspace_id, transaction, team_id, changes)
    select s.workspace_id, pg_current_xact_id(), s.team, array_agg((s.kind, s.key, s.bucket, s.n, s.amount)::app.counted_as)
    from (
      select c.workspace_id, c.team, c.kind, c.key, c.bucket, sum(c.n)::int as n, sum(c.amount) as amount
      from (
        select r.workspace_id, %2$s as team, c.kind, c.key, c.bucket, -c.n as n, -c.amount as amount
        from old_rows r cross join lateral app.counts_of(r::%1$s) c
        union all
        select r.workspace_id, %2$s, c.kind, c.key, c.bucket, c.n, c.amount
        from new_rows r cross join lateral app.counts_of(r::%1$s) c
      ) c
      group by 1, 2, 3, 4, 5 having sum(c.n) <> 0 or sum(c.amount) <> 0
    ) s group by s.workspace_id, s.team
    on conflict (workspace_id, transaction, team_id) do update set changes = excluded.changes || noted.changes;
  end if;
  return null;
end $body$;
$function$, source.name, source.team);
  end loop;
end $$;
`;
