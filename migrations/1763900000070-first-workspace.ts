import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Which workspace is the first was read from the times at which they were made, by the clock of whichever process made each.
 * It is a fact of its own now, which nothing changes afterwards.
 */
export class FirstWorkspace1763900000070 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
alter table workspaces add column is_first boolean not null default false;
alter table workspaces no force row level security;
update workspaces set is_first = true
where workspace_id = (select w.workspace_id from workspaces w order by w.created_at, w.workspace_id limit 1);
alter table workspaces force row level security;
create unique index workspaces_first on workspaces (is_first) where is_first;

create function app.refuse_other_first() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  raise exception 'the first workspace stays the first' using errcode = 'restrict_violation';
end $$;
create trigger first_stays_first before update on workspaces
  for each row when (old.is_first <> new.is_first) execute function app.refuse_other_first();
`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
drop trigger first_stays_first on workspaces;
drop function app.refuse_other_first;
alter table workspaces drop column is_first;
`);
  }
}
