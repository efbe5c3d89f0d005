import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Skill packs with the skills and standing orders that they bring, and the evals of skills that arrive with one. */
export class SkillPacks1765000000030 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
create table skill_packs (
  workspace_id text not null references workspaces,
  pack_id text not null,
  publisher text not null,
  name text not null,
  -- The name as it is compared: two names with one key look alike.
  name_key text not null,
  -- The newest that was ever accepted here, whatever became of it.
  version text not null,
  manifest jsonb not null,
  manifest_hash text not null,
  signature text not null,
  status text not null check (status in ('installing', 'installed', 'failed', 'uninstalled', 'revoked')),
  installed_by jsonb not null,
  installed_at timestamptz not null,
  completed_at timestamptz,
  removed_by jsonb,
  removed_at timestamptz,
  reason text,
  primary key (workspace_id, pack_id),
  unique (workspace_id, publisher, name),
  check ((status in ('uninstalled', 'revoked')) = (removed_at is not null))
);
create unique index skill_packs_name_key on skill_packs (workspace_id, name_key)
  where status in ('installing', 'installed', 'failed');
create index skill_packs_newest on skill_packs (workspace_id, installed_at desc, pack_id desc);
-- Over all workspaces: which of them have a pack that its publisher revokes.
create index skill_packs_present on skill_packs (publisher, name) where status in ('installing', 'installed', 'failed');
select app.isolate('skill_packs', false), app.allow_system_reads('skill_packs');
grant select, insert, update on skill_packs to consigliere_app;

create table skill_pack_skills (
  workspace_id text not null references workspaces,
  pack_id text not null,
  name text not null,
  position integer not null,
  capo text not null,
  status text not null check (status in ('waiting', 'arrived', 'refused')),
  -- What its capo is given; null until it has arrived.
  definition jsonb,
  version text,
  reason text,
  eval_run_id text,
  score double precision,
  primary key (workspace_id, pack_id, name),
  foreign key (workspace_id, pack_id) references skill_packs
);
create unique index skill_pack_skills_name on skill_pack_skills (workspace_id, name);
create index skill_pack_skills_of_capo on skill_pack_skills (workspace_id, capo) where definition is not null;
select app.isolate('skill_pack_skills', false);
grant select, insert, update, delete on skill_pack_skills to consigliere_app;

create table skill_pack_orders (
  workspace_id text not null references workspaces,
  pack_id text not null,
  order_key text not null,
  position integer not null,
  status text not null check (status in ('waiting', 'leaving', 'arrived', 'kept', 'refused', 'dropped')),
  standing_order_id text,
  -- Earlier orders of this key that stayed when a newer one arrived beside them.
  former_ids text[] not null default '{}',
  -- What the pack said, and which version of the order it wrote: a later one is a person's.
  shipped_hash text,
  written_version integer,
  version text,
  reason text,
  primary key (workspace_id, pack_id, order_key),
  foreign key (workspace_id, pack_id) references skill_packs
);
select app.isolate('skill_pack_orders', false);
grant select, insert, update, delete on skill_pack_orders to consigliere_app;

alter table eval_runs drop constraint eval_runs_occasion_check;
alter table eval_runs add constraint eval_runs_occasion_check check (occasion in ('request', 'activation', 'install'));
`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
delete from eval_runs where occasion = 'install';
alter table eval_runs drop constraint eval_runs_occasion_check;
alter table eval_runs add constraint eval_runs_occasion_check check (occasion in ('request', 'activation'));
drop table skill_pack_orders;
drop table skill_pack_skills;
drop table skill_packs;
`);
  }
}
