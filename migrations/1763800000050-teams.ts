import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Teams have names of their own, people come by invites, and a team's open work can be given to another: what is counted
 * by team moves with its rows.
 */
export class Teams1763800000050 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(TEAMS);
    await queryRunner.query(INVITES);
    await queryRunner.query(ACCOUNTS);
    await queryRunner.query(TALLIES);
  }

  async down(): Promise<void> {
    throw new Error('invites would be lost: restore a backup instead');
  }
}

/**
 * name_key is the name as it is compared (NFKC, without upper case), so that no two teams look alike. team_only marks a
 * member who was invited to teams alone, and so leaves the workspace with the last of them.
 */
const TEAMS = /* sql */ `
alter table teams add column name_key text;
alter table teams no force row level security;
update teams set name_key = lower(name);
update teams t set name_key = name_key || ' ' || team_id where exists (select from teams o
  where o.workspace_id = t.workspace_id and lower(o.name) = lower(t.name) and o.team_id < t.team_id);
alter table teams force row level security;
alter table teams alter column name_key set not null;
create unique index teams_name on teams (workspace_id, name_key) where archived_at is null;
alter table members add column team_only boolean not null default false;
`;

/** The token is nowhere but in the mail; until that is sent it is kept sealed. */
const INVITES = /* sql */ `
create table invites (
  invite_id text primary key,
  workspace_id text not null references workspaces,
  team_id text,
  email text not null,
  role text not null check (role in ('owner', 'admin', 'operator', 'viewer')),
  status text not null default 'pending' check (status in ('pending', 'accepted', 'withdrawn', 'expired')),
  token_hash text not null unique,
  sealed_token text,
  generation int not null default 1,
  mail_status text not null default 'queued' check (mail_status in ('queued', 'sent', 'failed')),
  mail_error text,
  mails timestamptz[] not null,
  wrong_passwords int not null default 0,
  invited_by jsonb not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  foreign key (workspace_id, team_id) references teams (workspace_id, team_id)
);
create unique index invites_open on invites (workspace_id, email, team_id) nulls not distinct
  where status = 'pending';
create index invites_newest on invites (workspace_id, created_at desc, invite_id desc);
create index invites_of_address on invites (email);
select app.isolate('invites', true), app.allow_system_reads('invites');
grant select, insert, update on invites to consigliere_app;
`;

/** For app.find_account alone. */
const ACCOUNTS = /* sql */ `
grant select (password_hash) on users to consigliere_system;
`;

const TALLIES = /* sql */ `
create or replace function app.count_directive() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    insert into tally_changes (workspace_id, team_id, kind, key, bucket, n, amount) values
      (new.workspace_id, new.team_id, 'directives', new.status || ' ' || coalesce(new.capo, ''), '-infinity', 1, 0);
  elsif new.status <> old.status or new.capo is distinct from old.capo or new.team_id is distinct from old.team_id then
    insert into tally_changes (workspace_id, team_id, kind, key, bucket, n, amount) values
      (old.workspace_id, old.team_id, 'directives', old.status || ' ' || coalesce(old.capo, ''), '-infinity', -1, 0),
      (new.workspace_id, new.team_id, 'directives', new.status || ' ' || coalesce(new.capo, ''), '-infinity', 1, 0);
  end if;
  -- Drafts of the built-in runner cost nothing, and write nothing here.
  insert into tally_changes (workspace_id, team_id, kind, key, bucket, n, amount)
  select new.workspace_id, c.team_id, 'cost', c.cost->>'currency', date_trunc('hour', c.started_at, 'UTC'), c.n,
    c.n * (c.cost->>'amount')::numeric
  from (values (old.team_id, old.started_at, old.cost, -1), (new.team_id, new.started_at, new.cost, 1))
    c (team_id, started_at, cost, n)
  where c.started_at is not null and (c.cost->>'amount')::numeric <> 0
    and (new.cost is distinct from old.cost or new.started_at is distinct from old.started_at
      or new.team_id is distinct from old.team_id);
  return null;
end $$;
drop trigger count_update on directives;
create trigger count_update after update on directives for each row
  when (new.status <> old.status or new.capo is distinct from old.capo or new.cost <> old.cost
    or new.started_at is distinct from old.started_at or new.team_id is distinct from old.team_id)
  execute function app.count_directive();
drop trigger count_update on approvals;
create trigger count_update after update on approvals for each row
  when (new.status <> old.status or new.ready <> old.ready or new.capo is distinct from old.capo
    or new.team_id is distinct from old.team_id)
  execute function app.count_approval();
drop trigger count_update on work_packets;
create trigger count_update after update on work_packets for each row
  when (new.status <> old.status or new.team_id is distinct from old.team_id)
  execute function app.count_packet();
`;
