import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What members ask the consigliere, and what people say about the family report (docs/decisions/0027). */
export class FamilyAndChat1765000000040 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(CONVERSATIONS);
    await queryRunner.query(TURNS);
    await queryRunner.query(COMMENTS);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop table chat_turns, chat_messages, conversations, report_comments');
  }
}

/**
 * A conversation belongs to one member, whatever team they are in. Each message keeps what its author could see then
 * (seen_teams; null: all of it), so that an answer is not shown again to somebody who may see less by now.
 */
const CONVERSATIONS = /* sql */ `
create table conversations (
  workspace_id text not null references workspaces,
  conversation_id text not null,
  member_id text not null references members,
  title text not null check (char_length(title) between 1 and 120),
  messages int not null check (messages >= 0),
  created_at timestamptz not null,
  last_message_at timestamptz not null,
  primary key (workspace_id, conversation_id)
);
create index conversations_of_member on conversations
  (workspace_id, member_id, last_message_at desc, conversation_id desc);
create index conversations_oldest on conversations (workspace_id, last_message_at);
select app.isolate('conversations', false);
grant select, insert, update on conversations to consigliere_app;
create policy system_lets_go on conversations to consigliere_system using (true);
grant select, update, delete on conversations to consigliere_system;

create table chat_messages (
  workspace_id text not null references workspaces,
  conversation_id text not null,
  position int not null check (position > 0),
  member_id text not null references members,
  author text not null check (author in ('member', 'consigliere')),
  body text not null check (char_length(body) between 1 and 8000),
  seen_teams text[],
  intents jsonb not null,
  directive_ids text[] not null,
  engine jsonb,
  cost jsonb,
  receipt_id text not null,
  created_at timestamptz not null,
  primary key (workspace_id, conversation_id, position),
  foreign key (workspace_id, conversation_id) references conversations
);
-- Which of a member's messages handed in directives lately.
create index chat_messages_with_directives on chat_messages (workspace_id, member_id, created_at)
  where cardinality(directive_ids) > 0;
select app.isolate('chat_messages', false);
grant select, insert on chat_messages to consigliere_app;
create policy system_lets_go on chat_messages to consigliere_system using (true);
grant select, update, delete on chat_messages to consigliere_system;
`;

/** A model is asked with no transaction open, so that a member has one question at a time is a row with an end. */
const TURNS = /* sql */ `
create table chat_turns (
  workspace_id text not null references workspaces,
  member_id text not null references members,
  turn_id text not null,
  expires_at timestamptz not null,
  primary key (workspace_id, member_id)
);
select app.isolate('chat_turns', false);
grant select, insert, update, delete on chat_turns to consigliere_app;
`;

const COMMENTS = /* sql */ `
create table report_comments (
  workspace_id text not null references workspaces,
  comment_id text not null,
  report_id text not null,
  team_id text,
  -- Whether the report shows the whole workspace, which only those who see all of it may read.
  of_all boolean not null check (not of_all or team_id is null),
  section_key text,
  body text not null check (char_length(body) between 1 and 4000),
  created_by jsonb not null,
  created_at timestamptz not null,
  receipt_id text not null,
  primary key (workspace_id, comment_id)
);
create index report_comments_of_report on report_comments (workspace_id, report_id, created_at desc, comment_id desc);
create index report_comments_newest on report_comments (workspace_id, created_at desc, comment_id desc);
select app.isolate('report_comments', true);
grant select, insert on report_comments to consigliere_app;
`;
