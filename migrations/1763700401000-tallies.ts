import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Counts and sums that are kept instead of being taken over all history at each read. */
export class Tallies1763700401000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(TABLES);
    await queryRunner.query(TRIGGERS);
    await queryRunner.query(RECOUNT);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
drop function app.count_directive, app.count_approval, app.count_packet, app.count_signal, app.count_revenue cascade;
drop function app.recount_tallies;
drop table tally_changes, tallies;
`);
  }
}

/**
 * A counter row that every act of a workspace updates would make the acts wait for each other from there to their
 * COMMIT. So each act adds rows of its own to tally_changes, which nobody waits for, and app.fold_tallies adds them up
 * into tallies now and then. What is read is the sum of both, which is exact at any moment.
 */
const TABLES = /* sql */ `
create table tallies (
  tally_id bigint generated always as identity primary key,
  workspace_id text not null references workspaces,
  team_id text,
  kind text not null,
  key text not null,
  -- The hour that it belongs to; -infinity for what is counted over all time.
  bucket timestamptz not null,
  n bigint not null,
  amount numeric not null,
  constraint tallies_once unique nulls not distinct (workspace_id, kind, bucket, key, team_id)
);
create table tally_changes (
  change_id bigint generated always as identity primary key,
  workspace_id text not null,
  team_id text,
  kind text not null,
  key text not null,
  bucket timestamptz not null,
  n int not null,
  amount numeric not null
);
create index tally_changes_of_workspace on tally_changes (workspace_id, kind);
-- Rows come and go; left to the defaults, vacuum would come when the dead outnumber the living by far.
alter table tally_changes set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 20000);
select app.isolate('tallies', true), app.isolate('tally_changes', true);
create policy system_folds on tallies to consigliere_system using (true);
create policy system_folds on tally_changes to consigliere_system using (true);
grant select on tallies to consigliere_app;
grant select, insert on tally_changes to consigliere_app;
grant select, insert, update on tallies to consigliere_system;
grant select, insert, delete on tally_changes to consigliere_system;
`;

const TRIGGERS = /* sql */ `
create function app.count_directive() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    insert into tally_changes (workspace_id, team_id, kind, key, bucket, n, amount) values
      (new.workspace_id, new.team_id, 'directives', new.status || ' ' || coalesce(new.capo, ''), '-infinity', 1, 0);
  elsif new.status <> old.status or new.capo is distinct from old.capo then
    insert into tally_changes (workspace_id, team_id, kind, key, bucket, n, amount) values
      (old.workspace_id, old.team_id, 'directives', old.status || ' ' || coalesce(old.capo, ''), '-infinity', -1, 0),
      (new.workspace_id, new.team_id, 'directives', new.status || ' ' || coalesce(new.capo, ''), '-infinity', 1, 0);
  end if;
  -- Drafts of the built-in runner cost nothing, and write nothing here.
  insert into tally_changes (workspace_id, team_id, kind, key, bucket, n, amount)
  select new.workspace_id, new.team_id, 'cost', c.cost->>'currency', date_trunc('hour', c.started_at, 'UTC'), c.n,
    c.n * (c.cost->>'amount')::numeric
  from (values (old.started_at, old.cost, -1), (new.started_at, new.cost, 1)) c (started_at, cost, n)
  where c.started_at is not null and (c.cost->>'amount')::numeric <> 0
    and (new.cost is distinct from old.cost or new.started_at is distinct from old.started_at);
  return null;
end $$;
create trigger count_insert after insert on directives for each row execute function app.count_directive();
create trigger count_update after update on directives for each row
  when (new.status <> old.status or new.capo is distinct from old.capo or new.cost <> old.cost
    or new.started_at is distinct from old.started_at)
  execute function app.count_directive();

-- What waits for a person is told apart by whether its draft is there.
create function app.count_approval() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if tg_op = 'UPDATE' then
    insert into tally_changes (workspace_id, team_id, kind, key, bucket, n, amount) values
      (old.workspace_id, old.team_id, 'approvals', case when old.status = 'pending' and old.ready then 'ready'
        else old.status end || ' ' || coalesce(old.capo, ''), '-infinity', -1, 0);
  end if;
  insert into tally_changes (workspace_id, team_id, kind, key, bucket, n, amount) values
    (new.workspace_id, new.team_id, 'approvals', case when new.status = 'pending' and new.ready then 'ready'
      else new.status end || ' ' || coalesce(new.capo, ''), '-infinity', 1, 0);
  if new.status = 'expired' and new.decided_at is not null and old.status is distinct from 'expired' then
    insert into tally_changes (workspace_id, team_id, kind, key, bucket, n, amount) values
      (new.workspace_id, new.team_id, 'approvals_expired', '', date_trunc('hour', new.decided_at, 'UTC'), 1, 0);
  end if;
  return null;
end $$;
create trigger count_insert after insert on approvals for each row execute function app.count_approval();
create trigger count_update after update on approvals for each row
  when (new.status <> old.status or new.ready <> old.ready or new.capo is distinct from old.capo)
  execute function app.count_approval();

create function app.count_packet() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if tg_op = 'UPDATE' then
    insert into tally_changes (workspace_id, team_id, kind, key, bucket, n, amount) values
      (old.workspace_id, old.team_id, 'packets', old.status, '-infinity', -1, 0);
  end if;
  insert into tally_changes (workspace_id, team_id, kind, key, bucket, n, amount) values
    (new.workspace_id, new.team_id, 'packets', new.status, '-infinity', 1, 0);
  return null;
end $$;
create trigger count_insert after insert on work_packets for each row execute function app.count_packet();
create trigger count_update after update on work_packets for each row when (new.status <> old.status)
  execute function app.count_packet();

-- What was scored stays counted when it is withdrawn or let go.
create function app.count_signal() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    insert into tally_changes (workspace_id, team_id, kind, key, bucket, n, amount)
    select new.workspace_id, new.team_id, 'signals', k, '-infinity', 1, 0
    from unnest(array[case when new.score is not null then 'scored' end,
      case when new.withdrawn_at is null and new.acknowledged_at is null then 'open' end]) k where k is not null;
  elsif (new.withdrawn_at is null and new.acknowledged_at is null)
      <> (old.withdrawn_at is null and old.acknowledged_at is null) then
    insert into tally_changes (workspace_id, team_id, kind, key, bucket, n, amount) values
      (new.workspace_id, new.team_id, 'signals', 'open', '-infinity',
        case when new.withdrawn_at is null and new.acknowledged_at is null then 1 else -1 end, 0);
  end if;
  return null;
end $$;
create trigger count_insert after insert on signals for each row execute function app.count_signal();
create trigger count_update after update on signals for each row execute function app.count_signal();

create function app.count_revenue() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  insert into tally_changes (workspace_id, team_id, kind, key, bucket, n, amount) values
    (new.workspace_id, null, 'revenue', new.currency, date_trunc('hour', new.occurred_at, 'UTC'), 1, new.amount);
  return null;
end $$;
create trigger count_insert after insert on revenue_events for each row execute function app.count_revenue();
`;

/** From the rows as they are: at the upgrade, and after rows were written past the triggers (a restored table). */
const RECOUNT = /* sql */ `
create function app.recount_tallies() returns void language sql set search_path = public, pg_temp as $$
delete from tally_changes;
delete from tallies;
insert into tallies (workspace_id, team_id, kind, key, bucket, n, amount)
select workspace_id, team_id, 'directives', status || ' ' || coalesce(capo, ''), '-infinity', count(*), 0
from directives group by 1, 2, 4
union all
select workspace_id, team_id, 'cost', cost->>'currency', date_trunc('hour', started_at, 'UTC'), count(*),
  sum((cost->>'amount')::numeric)
from directives where started_at is not null and (cost->>'amount')::numeric <> 0 group by 1, 2, 4, 5
union all
select workspace_id, team_id, 'approvals', case when status = 'pending' and ready then 'ready' else status end || ' '
  || coalesce(capo, ''), '-infinity', count(*), 0
from approvals group by 1, 2, 4
union all
select workspace_id, team_id, 'approvals_expired', '', date_trunc('hour', decided_at, 'UTC'), count(*), 0
from approvals where status = 'expired' and decided_at is not null group by 1, 2, 5
union all
select workspace_id, team_id, 'packets', status, '-infinity', count(*), 0 from work_packets group by 1, 2, 4
union all
select workspace_id, team_id, 'signals', 'scored', '-infinity', count(*), 0 from signals where score is not null
group by 1, 2
union all
select workspace_id, team_id, 'signals', 'open', '-infinity', count(*), 0 from signals
where withdrawn_at is null and acknowledged_at is null group by 1, 2
union all
select workspace_id, null, 'revenue', currency, date_trunc('hour', occurred_at, 'UTC'), count(*), sum(amount)
from revenue_events group by 1, 4, 5;
$$;
revoke all on function app.recount_tallies from public;
select app.recount_tallies();
`;
