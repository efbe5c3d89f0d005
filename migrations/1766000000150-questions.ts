import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Questions of agents from outside: approvals of a kind of their own, which are answered (docs/decisions/0048). */
export class Questions1766000000150 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
-- In the order of a decision by a link.
lock table decision_links, approvals in access exclusive mode;
alter table approvals
  add column question_id text,
  add column question json,
  add column answer jsonb,
  drop constraint approvals_kind_check,
  drop constraint approvals_about_check,
  add constraint approvals_kind_check check (kind in ('output', 'standing_order', 'budget_override', 'action', 'question')),
  add constraint approvals_about_check check ((kind = 'action') = (action_request_id is not null)
    and (kind = 'question') = (question_id is not null) and (kind = 'question') = (question is not null)
    and (kind in ('action', 'question')) = (directive_id is null)),
  add constraint approvals_answer_check check ((answer is not null) = (kind = 'question' and status = 'approved'));
create unique index approvals_question on approvals (workspace_id, question_id) where question_id is not null;
create unique index approvals_question_external on approvals (workspace_id, (question->>'tokenRootId'), (question->>'externalId'))
  where question->>'externalId' is not null;
create index approvals_questions_newest on approvals (workspace_id, requested_at desc, question_id desc)
  where question_id is not null;
create index approvals_questions_open on approvals (workspace_id, (question->>'tokenRootId'))
  where question_id is not null and status = 'pending';
alter table decision_links drop constraint decision_links_decision_check,
  add constraint decision_links_decision_check check (decision in ('approve', 'reject', 'revise', 'edit', 'answer'));

-- An edit, more time and the end of a kill move the end of an approval; what an agent asked for ends with it.
create function app.move_expiry_of_action() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  update action_requests set expires_at = new.expires_at
  where action_request_id = new.action_request_id and status = 'pending';
  return null;
end $$;
create trigger move_expiry_of_action after update on approvals for each row
  when (old.ready and new.action_request_id is not null and new.expires_at is distinct from old.expires_at)
  execute function app.move_expiry_of_action();
`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
drop trigger move_expiry_of_action on approvals;
drop function app.move_expiry_of_action();
alter table approvals no force row level security;
alter table decision_links no force row level security;
delete from decision_links l using approvals a where a.approval_id = l.approval_id and a.kind = 'question';
delete from approvals where kind = 'question';
alter table approvals force row level security;
alter table decision_links force row level security;
alter table decision_links drop constraint decision_links_decision_check,
  add constraint decision_links_decision_check check (decision in ('approve', 'reject', 'revise', 'edit'));
alter table approvals
  drop constraint approvals_answer_check,
  drop constraint approvals_about_check,
  drop constraint approvals_kind_check,
  drop column answer,
  drop column question,
  drop column question_id,
  add constraint approvals_kind_check check (kind in ('output', 'standing_order', 'budget_override', 'action')),
  add constraint approvals_about_check check ((kind = 'action') = (action_request_id is not null)
    and (kind = 'action') = (directive_id is null));
`);
  }
}
