import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the model calls of a workspace have used each day, and how much they may (docs/decisions/0009). */
export class ModelBudget1763800000010 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
-- Null: what its tier has.
alter table workspaces add column model_budget jsonb
  check (model_budget is null or jsonb_typeof(model_budget) = 'object');

create table model_usage (
  workspace_id text not null references workspaces,
  -- In the workspace's zone.
  day date not null,
  -- US dollars and tokens of the calls that have ended, and what those under way may use at most.
  amount numeric not null default 0,
  tokens numeric not null default 0,
  -- Whether somebody was told that the budget is nearly used up.
  warned boolean not null default false,
  primary key (workspace_id, day)
);
select app.isolate('model_usage', false);
grant select, insert, update on model_usage to consigliere_app;
`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
drop table model_usage;
alter table workspaces drop column model_budget;
`);
  }
}
