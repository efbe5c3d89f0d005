import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Who asks a question, in columns of its own: row-level security keeps `question->>'tokenRootId'` from every index, since `->>` is not
 * leakproof, so each question read all others. A trigger fills them, for processes of the version before too.
 */
export class QuestionsByToken1766000000210 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
lock table approvals in access exclusive mode;
alter table approvals
  add column question_token_id text,
  add column question_agent text,
  add column question_external_id text;
create function app.set_question_columns() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  new.question_token_id := new.question->>'tokenRootId';
  new.question_agent := new.question->>'agent';
  new.question_external_id := new.question->>'externalId';
  return new;
end $$;
alter table approvals no force row level security;
update approvals set question_token_id = question->>'tokenRootId', question_agent = question->>'agent',
  question_external_id = question->>'externalId' where question_id is not null;
alter table approvals force row level security;
create trigger set_question_columns before insert on approvals for each row
  when (new.question_id is not null) execute function app.set_question_columns();
drop index approvals_question_external, approvals_questions_open;
create unique index approvals_question_external on approvals (workspace_id, question_token_id, question_external_id)
  where question_external_id is not null;
create index approvals_questions_open on approvals (workspace_id, question_token_id, team_id)
  where question_id is not null and status = 'pending';
create index approvals_questions_by_token on approvals (workspace_id, question_token_id, requested_at desc, question_id desc)
  where question_id is not null;
create index approvals_questions_by_agent on approvals (workspace_id, question_agent, requested_at desc, question_id desc)
  where question_agent is not null;
`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
drop trigger set_question_columns on approvals;
drop function app.set_question_columns();
alter table approvals drop column question_token_id, drop column question_agent, drop column question_external_id;
create unique index approvals_question_external on approvals (workspace_id, (question->>'tokenRootId'), (question->>'externalId'))
  where question->>'externalId' is not null;
create index approvals_questions_open on approvals (workspace_id, (question->>'tokenRootId'))
  where question_id is not null and status = 'pending';
`);
  }
}
