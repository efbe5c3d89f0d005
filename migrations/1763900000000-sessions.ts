import type { MigrationInterface, QueryRunner } from 'typeorm';

/** People sign in to the admin area: a session is a member's, in one workspace. */
export class Sessions1763900000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(SESSIONS);
  }

  async down(): Promise<void> {
    throw new Error('sessions would be lost: restore a backup instead');
  }
}

/** The secret is nowhere but in the cookie. A token that a session made for the dashboard ends with the session. */
const SESSIONS = /* sql */ `
create table sessions (
  session_id text primary key,
  workspace_id text not null references workspaces,
  member_id text not null references members,
  user_id text not null references users,
  secret_hash text not null unique,
  method text not null check (method in ('password', 'oidc')),
  second_factor boolean not null,
  user_agent text,
  address text not null,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz
);
create index sessions_newest on sessions (workspace_id, created_at desc, session_id desc);
create index sessions_of_member on sessions (workspace_id, member_id) where ended_at is null;
create index sessions_of_user on sessions (user_id) where ended_at is null;
create index sessions_by_expiry on sessions (expires_at);
select app.isolate('sessions', false), app.allow_system_reads('sessions');
create policy system_changes on sessions to consigliere_system using (true);
grant select, insert, update on sessions to consigliere_app;
grant update, delete on sessions to consigliere_system;

create index members_of_user on members (user_id) where status = 'active';

alter table tokens add column session_id text references sessions on delete cascade;
create index tokens_of_session on tokens (session_id) where session_id is not null;
create index tokens_of_dashboard on tokens (expires_at) where session_id is not null;
create policy system_changes on tokens to consigliere_system using (true);
grant update, delete on tokens to consigliere_system;
`;
