import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What decisions refer to, and the decisions themselves. */
export class Policies1764000000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(VERSIONS);
    await queryRunner.query(EPOCHS);
    await queryRunner.query(POLICIES);
    await queryRunner.query(DECISIONS);
    await queryRunner.query(COUNTERS);
  }

  async down(): Promise<void> {
    throw new Error('this migration moves the records of decisions: restore a backup instead');
  }
}

/** The application may add and read versions, and nothing else: a decision that names one can rely on it. */
const VERSIONS = /* sql */ `
create table standing_order_versions (
  workspace_id text not null references workspaces,
  standing_order_id text not null,
  version integer not null check (version >= 1),
  team_id text,
  name text not null,
  text text not null,
  capos text[],
  effect text not null check (effect in ('allow', 'require_approval', 'deny', 'throttle')),
  match jsonb not null,
  "when" jsonb,
  limits jsonb,
  budget jsonb,
  approval jsonb,
  expires_at timestamptz,
  hash text not null,
  created_by jsonb not null,
  created_at timestamptz not null,
  primary key (workspace_id, standing_order_id, version)
);
select app.isolate('standing_order_versions', true);
grant select, insert on standing_order_versions to consigliere_app;

-- No order has had a second version before this migration.
alter table standing_orders no force row level security;
insert into standing_order_versions (workspace_id, standing_order_id, version, team_id, name, text, capos, effect, match, "when",
  limits, budget, approval, expires_at, hash, created_by, created_at)
select workspace_id, standing_order_id, version, team_id, name, text, capos, effect, match, "when", limits, budget, approval,
  expires_at, hash, created_by, created_at
from standing_orders;
alter table standing_orders force row level security;
`;

/** Counts the changes of a workspace's orders, so that a process knows whether those it has read are still the ones. */
const EPOCHS = /* sql */ `
create table standing_order_epochs (
  workspace_id text primary key references workspaces,
  epoch bigint not null
);
select app.isolate('standing_order_epochs', false);
grant select, insert, update on standing_order_epochs to consigliere_app;

create function app.count_order_change() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  insert into standing_order_epochs as e (workspace_id, epoch) values (new.workspace_id, 1)
  on conflict (workspace_id) do update set epoch = e.epoch + 1;
  return null;
end $$;
create trigger count_order_change after insert or update on standing_orders
  for each row execute function app.count_order_change();
`;

/** Sets of order versions by their hash; immutable like the versions. */
const POLICIES = /* sql */ `
create table policies (
  workspace_id text not null references workspaces,
  hash text not null,
  orders jsonb not null,
  created_at timestamptz not null,
  primary key (workspace_id, hash)
);
select app.isolate('policies', false);
grant select, insert on policies to consigliere_app;
`;

/** One for each decision about a work packet. What it read of the orders stands in its policy. */
const DECISIONS = /* sql */ `
create table policy_decisions (
  workspace_id text not null references workspaces,
  decision_id text not null,
  work_packet_id text not null,
  team_id text,
  at timestamptz not null,
  outcome text not null check (outcome in ('allow', 'throttle', 'require_approval', 'deny')),
  decision jsonb not null,
  input jsonb not null,
  params jsonb not null,
  -- The sequence in which they are replayed, and let go.
  primary key (workspace_id, at, decision_id)
);
create index policy_decisions_of_packet on policy_decisions (workspace_id, work_packet_id, at desc);
select app.isolate('policy_decisions', true);
grant select, insert on policy_decisions to consigliere_app;
create policy system_lets_go on policy_decisions to consigliere_system using (true);
grant select, update, delete on policy_decisions to consigliere_system;

alter table work_packets drop column decision_input;
`;

/**
 * The oldest counted use of the hour and of the day: until it leaves, a decision has nothing to take off. Whatever was
 * counted before is counted once more.
 */
const COUNTERS = /* sql */ `
alter table standing_order_usage add column hour_oldest timestamptz, add column day_oldest timestamptz;

create or replace function app.count_use() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  update standing_order_usage u set
    hour_uses = u.hour_uses + (new.at > u.hour_from)::int,
    day_uses = u.day_uses + (new.at > u.day_from)::int,
    hour_oldest = case when new.at > u.hour_from then least(u.hour_oldest, new.at) else u.hour_oldest end,
    day_oldest = case when new.at > u.day_from then least(u.day_oldest, new.at) else u.day_oldest end,
    last_at = greatest(u.last_at, new.at),
    amounts = case when new.currency is null or new.at < u.day_since then u.amounts
      else u.amounts || jsonb_build_object(new.currency, coalesce((u.amounts->>new.currency)::numeric, 0) + new.amount) end,
    spent = u.spent + case when new.at >= u.window_since then new.spent else 0 end
  where u.workspace_id = new.workspace_id and u.standing_order_id = new.standing_order_id;
  return null;
end $$;

alter table standing_order_usage no force row level security;
update standing_order_usage set hour_uses = null, day_uses = null;
alter table standing_order_usage force row level security;
`;
