import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tools of agents, as people have described them. */
export class Tools1766000000120 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
create table tools (
  workspace_id text not null references workspaces,
  name text not null check (char_length(name) between 1 and 255),
  title text not null,
  description text not null,
  audience text not null,
  reversibility text not null
    check (reversibility in ('read_only', 'reversible', 'externally_reversible', 'irreversible')),
  risk text not null check (risk in ('low', 'medium', 'high', 'critical')),
  params_schema jsonb not null,
  amount_path text,
  amount_unit text not null check (amount_unit in ('major', 'minor')),
  currency_path text,
  recipients_path text,
  title_template text,
  consume_in_seconds integer not null check (consume_in_seconds between 60 and 86400),
  complete_in_seconds integer not null check (complete_in_seconds between 60 and 604800),
  fingerprint text not null,
  status text not null check (status in ('proposed', 'active', 'paused')),
  created_by jsonb not null,
  updated_at timestamptz not null,
  primary key (workspace_id, name)
);
select app.isolate('tools', false);
grant select, insert, update, delete on tools to consigliere_app;
`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop table tools');
  }
}
