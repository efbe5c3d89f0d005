import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What models cost that belongs to no directive, such as an answer in the chat (docs/decisions/0009). It is counted by the same tallies
 * as what drafts cost.
 */
export class ModelCharges1765000000060 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(TABLE);
    await queryRunner.query(TRIGGER);
    await queryRunner.query(UNSTARTED);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
  }
}

const TABLE = /* sql */ `
create table model_charges (
  workspace_id text not null references workspaces,
  receipt_id text not null,
  -- Always null: it is the workspace's. Row-level security shows it to those who see the rows of no team.
  team_id text check (team_id is null),
  capo text,
  amount numeric(18, 6) not null check (amount >= 0),
  currency text not null,
  tokens_in bigint not null check (tokens_in >= 0),
  tokens_out bigint not null check (tokens_out >= 0),
  charged_at timestamptz not null,
  primary key (workspace_id, receipt_id)
);
create index model_charges_by_time on model_charges (workspace_id, charged_at);
select app.isolate('model_charges', true);
grant select, insert on model_charges to consigliere_app;
`;

const TRIGGER = /* sql */ `
create function app.count_model_charge() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if new.amount <> 0 then
    insert into tally_changes (workspace_id, team_id, kind, key, bucket, n, amount) values
      (new.workspace_id, new.team_id, 'cost', new.currency,
        date_bin('15 minutes', new.charged_at, timestamptz '2001-01-01 00:00:00+00'), 1, new.amount);
  end if;
  return null;
end $$;
create trigger count_insert after insert on model_charges for each row execute function app.count_model_charge();
`;

/**
 * Routing costs before a capo begins, and a directive may end before one does: until then its cost counts when it was handed in. The
 * newer body of the trigger, and what it did not count so far.
 */
const UNSTARTED = /* sql */ `
create or replace function app.count_directive() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    insert into tally_changes (workspace_id, team_id, kind, key, bucket, n, amount) values
      (new.workspace_id, new.team_id, 'directives', new.status || ' ' || coalesce(new.capo, ''), '-infinity', 1, 0);
  elsif new.status <> old.status or new.capo is distinct from old.capo or new.team_id is distinct from old.team_id then
    insert into tally_changes (workspace_id, team_id, kind, key, bucket, n, amount) values
      (old.workspace_id, old.team_id, 'directives', old.status || ' ' || coalesce(old.capo, ''), '-infinity', -1, 0),
      (new.workspace_id, new.team_id, 'directives', new.status || ' ' || coalesce(new.capo, ''), '-infinity', 1, 0);
  end if;
  -- Drafts of the built-in runner cost nothing, and write nothing here.
  insert into tally_changes (workspace_id, team_id, kind, key, bucket, n, amount)
  select new.workspace_id, c.team_id, 'cost', c.cost->>'currency',
    date_bin('15 minutes', c.at, timestamptz '2001-01-01 00:00:00+00'), c.n, c.n * (c.cost->>'amount')::numeric
  from (values (old.team_id, coalesce(old.started_at, old.created_at), old.cost, -1),
      (new.team_id, coalesce(new.started_at, new.created_at), new.cost, 1)) c (team_id, at, cost, n)
  where c.at is not null and (c.cost->>'amount')::numeric <> 0
    and (new.cost is distinct from old.cost or new.started_at is distinct from old.started_at
      or new.team_id is distinct from old.team_id);
  return null;
end $$;

alter table directives no force row level security;
alter table tally_changes no force row level security;
insert into tally_changes (workspace_id, team_id, kind, key, bucket, n, amount)
select workspace_id, team_id, 'cost', cost->>'currency',
  date_bin('15 minutes', created_at, timestamptz '2001-01-01 00:00:00+00'), 1, (cost->>'amount')::numeric
from directives where started_at is null and (cost->>'amount')::numeric <> 0;
alter table tally_changes force row level security;
alter table directives force row level security;
`;

const DOWN = /* sql */ `
drop table model_charges;
drop function app.count_model_charge;
`;
