import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What evals have found. The application may add runs and read them, and nothing else. */
export class Evals1764000000050 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
create table eval_runs (
  workspace_id text not null references workspaces,
  eval_run_id text not null,
  team_id text,
  name text not null,
  kind text not null
    check (kind in ('standing_order_safety', 'workflow_candidate_soundness', 'skill_definition_syntax')),
  target_entity_type text not null check (target_entity_type in ('standing_order', 'workflow_candidate', 'skill')),
  target_entity_id text not null,
  target_version integer,
  occasion text not null check (occasion in ('request', 'activation')),
  status text not null check (status in ('completed', 'error')),
  score double precision not null check (score between 0 and 1),
  threshold double precision not null check (threshold between 0 and 1),
  passed boolean not null check (not passed or status = 'completed'),
  findings jsonb not null,
  findings_omitted integer not null check (findings_omitted >= 0),
  duration_ms double precision not null check (duration_ms >= 0),
  created_by jsonb not null,
  created_at timestamptz not null,
  receipt_id text not null,
  primary key (workspace_id, eval_run_id)
);
create index eval_runs_newest on eval_runs (workspace_id, created_at desc, eval_run_id desc);
create index eval_runs_of_kind on eval_runs (workspace_id, kind, created_at desc, eval_run_id desc);
create index eval_runs_of_target on eval_runs (workspace_id, target_entity_id, created_at desc, eval_run_id desc);
create index eval_runs_of_team on eval_runs (workspace_id, team_id, created_at desc, eval_run_id desc);
create index eval_runs_failed on eval_runs (workspace_id, created_at desc, eval_run_id desc) where not passed;
create index eval_runs_to_let_go on eval_runs (workspace_id, created_at) where occasion = 'request';
select app.isolate('eval_runs', true), app.allow_system_reads('eval_runs');
grant select, insert on eval_runs to consigliere_app;
create policy system_deletes on eval_runs for delete to consigliere_system using (true);
grant delete on eval_runs to consigliere_system;

-- What went out under standing orders in one currency, for the look at their budgets: of all uses only those with an amount.
create index standing_order_uses_with_amount on standing_order_uses (workspace_id, currency, at)
  include (work_packet_id, amount) where amount > 0;
`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
drop index standing_order_uses_with_amount;
drop table eval_runs;
`);
  }
}
