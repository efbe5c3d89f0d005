import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What standing orders would have done to the decisions of the past, and what is suggested because of them. */
export class Simulations1764000000020 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(SIMULATIONS);
    await queryRunner.query(SUGGESTIONS);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
drop table suggestion_decisions, simulations;
alter table policy_decisions drop column target;
alter table standing_orders drop column simulation, drop column eval_run_id;
`);
  }
}

/**
 * Simulations are named by ids that sort by time; there is one of a version for each end of history (the last decision, or '') and zone.
 * The order itself shows the numbers of the newest one of its version.
 */
const SIMULATIONS = /* sql */ `
create table simulations (
  workspace_id text not null references workspaces,
  simulation_id text not null,
  standing_order_id text not null references standing_orders,
  team_id text,
  version int not null,
  until_decision_id text not null,
  zone text not null,
  considered int not null,
  relaxed int not null,
  escalated int not null,
  unchanged int not null,
  relaxed_irreversible int not null,
  changes jsonb not null,
  hash text not null,
  computed_at timestamptz not null,
  primary key (workspace_id, simulation_id),
  unique (workspace_id, standing_order_id, version, until_decision_id, zone)
);
create index simulations_of_order on simulations (workspace_id, standing_order_id, simulation_id desc);
select app.isolate('simulations', true);
grant select, insert, delete on simulations to consigliere_app;

-- A draft may ask for what no order asked for then.
alter table policy_decisions add column target text;

alter table standing_orders add column simulation jsonb, add column eval_run_id text;
`;

/** A suggestion is computed from approvals and has no row until somebody decides about it. */
const SUGGESTIONS = /* sql */ `
create table suggestion_decisions (
  workspace_id text not null references workspaces,
  suggestion_id text not null,
  team_id text,
  decision text not null check (decision in ('dismissed', 'accepted')),
  standing_order_id text references standing_orders,
  decided_by jsonb not null,
  decided_at timestamptz not null,
  primary key (workspace_id, suggestion_id),
  check ((decision = 'accepted') = (standing_order_id is not null))
);
select app.isolate('suggestion_decisions', true);
grant select, insert on suggestion_decisions to consigliere_app;
`;
