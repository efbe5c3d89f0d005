import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What every feature stands on: the two roles, tenant isolation, workspaces and who may call, the receipt chain,
 * idempotency, limits, and the one function that ends an act.
 */
export class Ground1763600000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(ROLES);
    await queryRunner.query(ISOLATION);
    await queryRunner.query(WORKSPACES);
    await queryRunner.query(RECEIPTS);
    await queryRunner.query(ADMISSION);
    await queryRunner.query(FINISH);
  }

  async down(): Promise<void> {
    throw new Error('the first migration cannot be undone: drop the database instead');
  }
}

/**
 * consigliere_app is what the program works as: it owns nothing and cannot bypass row-level security.
 * consigliere_system owns the few functions that must look across workspaces (who is this token, what is overdue);
 * the program never switches to it, and it may only read what its policies name.
 * Roles belong to the whole cluster, so a second database finds them there.
 */
const ROLES = /* sql */ `
do $$
declare wanted text;
begin
  foreach wanted in array array['consigliere_app', 'consigliere_system'] loop
    begin
      execute format('create role %I nologin nosuperuser nobypassrls nocreatedb nocreaterole', wanted);
    exception when duplicate_object or unique_violation then null;
    end;
    if not pg_has_role(current_user, wanted, 'member') then
      execute format('grant %I to %I', wanted, current_user);
    end if;
  end loop;
end $$;
create schema app;
grant usage on schema app to consigliere_app;
grant usage, create on schema app to consigliere_system;
grant usage on schema public to consigliere_app, consigliere_system;
`;

const ISOLATION = /* sql */ `
-- Whose rows a transaction may see. Both are a CASE on purpose: the planner takes a CASE for one row in two, where it
-- would take the same comparisons for far fewer, which speaks for sorting instead of reading the newest rows from an
-- index. The index is chosen by the statement's own workspace_id, which every statement has as well.
-- The settings are read in sub-selects, so once a statement.
create function app.own_workspace() returns text language sql immutable
  return 'case when workspace_id = (select current_setting(''app.workspace_id'', true)) then true else false end';
create function app.own_teams() returns text language sql immutable
  return 'case when (select current_setting(''app.team_ids'', true)) = ''*'' then true'
    ' when team_id is null then (select current_setting(''app.team_ids'', true)) = '''''
    ' else team_id = any ((select string_to_array(current_setting(''app.team_ids'', true), '',''))::text[]) end';

-- Every tenant table goes through here.
create function app.isolate(tenant_table regclass, by_team boolean) returns void language plpgsql as $$
begin
  execute format('alter table %s enable row level security', tenant_table);
  execute format('alter table %s force row level security', tenant_table);
  execute format('create policy isolation on %s using (%s)', tenant_table,
    app.own_workspace() || case when by_team then ' and ' || app.own_teams() else '' end);
end $$;

-- Times on the wire are Unix milliseconds.
create function app.ms(at timestamptz) returns bigint language sql immutable parallel safe
  return (extract(epoch from at) * 1000)::bigint;

-- Lets the functions of consigliere_system read a table across workspaces.
create function app.allow_system_reads(tenant_table regclass) returns void language plpgsql as $$
begin
  execute format('create policy system_reads on %s for select to consigliere_system using (true)', tenant_table);
  execute format('grant select on %s to consigliere_system', tenant_table);
end $$;
`;

const WORKSPACES = /* sql */ `
create table workspaces (
  workspace_id text primary key,
  name text not null,
  tier text not null check (tier in ('free', 'pro', 'enterprise')),
  timezone text not null default 'UTC',
  locale text not null default 'en',
  presence text not null default 'present' check (presence in ('present', 'away')),
  quiet_hours jsonb,
  notifications jsonb not null default '{}',
  created_at timestamptz not null default now()
);
select app.isolate('workspaces', false), app.allow_system_reads('workspaces');
grant select, insert, update on workspaces to consigliere_app;

create table users (
  user_id text primary key,
  email text not null unique,
  display_name text not null,
  password_hash text,
  created_at timestamptz not null default now()
);
grant select (user_id, email, display_name, created_at), insert on users to consigliere_app;

create table members (
  member_id text primary key,
  workspace_id text not null references workspaces,
  user_id text not null references users,
  role text not null check (role in ('owner', 'admin', 'operator', 'viewer')),
  status text not null default 'active' check (status in ('active', 'removed')),
  joined_at timestamptz not null default now(),
  last_seen_at timestamptz,
  unique (workspace_id, user_id)
);
select app.isolate('members', false), app.allow_system_reads('members');
grant select, insert, update on members to consigliere_app;

create table teams (
  team_id text primary key,
  workspace_id text not null references workspaces,
  name text not null,
  slug text not null,
  created_at timestamptz not null default now(),
  archived_at timestamptz,
  unique (workspace_id, slug),
  unique (workspace_id, team_id)
);
select app.isolate('teams', false);
grant select, insert, update on teams to consigliere_app;

create table team_members (
  workspace_id text not null,
  team_id text not null,
  member_id text not null references members,
  role text not null check (role in ('admin', 'operator', 'viewer')),
  primary key (workspace_id, team_id, member_id),
  foreign key (workspace_id, team_id) references teams (workspace_id, team_id)
);
create index team_members_by_member on team_members (member_id);
select app.isolate('team_members', false), app.allow_system_reads('team_members');
grant select, insert, update, delete on team_members to consigliere_app;

create table tokens (
  token_id text primary key,
  workspace_id text not null references workspaces,
  member_id text not null references members,
  name text not null,
  token_hash text not null unique,
  hint text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz
);
create index tokens_of_workspace on tokens (workspace_id, created_at desc);
select app.isolate('tokens', false), app.allow_system_reads('tokens');
grant select, insert, update on tokens to consigliere_app;
alter table users enable row level security;
alter table users force row level security;
create policy users_of_workspace on users for select using (
  exists (select 1 from members m where m.user_id = users.user_id)
);
create policy new_users on users for insert with check (true);
create policy system_reads on users for select to consigliere_system using (true);
grant select (user_id, email, display_name) on users to consigliere_system;

-- Who presents the token with this SHA-256: the one look-up that comes before a workspace is known.
create function app.find_caller(p_token_hash text) returns table (
  token_id text, workspace_id text, workspace_name text, tier text, member_id text, user_id text, name text,
  email text, role text, team_ids text[], expires_at timestamptz, revoked_at timestamptz, member_status text
) language sql stable security definer set search_path = public, pg_temp as $$
  select t.token_id, t.workspace_id, w.name, w.tier, m.member_id, m.user_id, u.display_name, u.email, m.role,
    array(select tm.team_id from team_members tm where tm.member_id = m.member_id order by tm.team_id),
    t.expires_at, t.revoked_at, m.status
  from tokens t
  join members m on m.member_id = t.member_id
  join users u on u.user_id = m.user_id
  join workspaces w on w.workspace_id = t.workspace_id
  where t.token_hash = p_token_hash
$$;
alter function app.find_caller owner to consigliere_system;

create function app.workspace_count() returns bigint
  language sql stable security definer set search_path = public, pg_temp as 'select count(*) from workspaces';
alter function app.workspace_count owner to consigliere_system;
`;

const RECEIPTS = /* sql */ `
create table receipt_heads (
  workspace_id text primary key references workspaces,
  seq bigint not null default 0,
  hash text not null default repeat('0', 64)
);
select app.isolate('receipt_heads', false), app.allow_system_reads('receipt_heads');
grant select, insert on receipt_heads to consigliere_app;

-- Every workspace begins with an empty chain.
create function app.begin_chain() returns trigger language plpgsql as $$
begin
  insert into public.receipt_heads (workspace_id) values (new.workspace_id);
  return null;
end $$;
create trigger begin_chain after insert on workspaces for each row execute function app.begin_chain();

-- body holds the exact bytes that were hashed; the columns beside it are for looking things up.
-- No reference to workspaces: the chain's head, locked for each append, has one, and a second check of the same row
-- would cost every act.
create table receipts (
  workspace_id text not null,
  seq bigint not null,
  receipt_id text not null,
  at timestamptz not null,
  actor_type text not null,
  actor_id text not null,
  action text not null,
  entity_type text not null,
  entity_id text not null,
  directive_id text,
  team_id text,
  capo text,
  body text not null,
  prev_hash text not null,
  hash text not null,
  primary key (workspace_id, seq),
  unique (workspace_id, prev_hash)
);
create index receipts_by_entity on receipts (workspace_id, entity_id, seq);
create index receipts_by_action on receipts (workspace_id, action, seq);
create index receipts_by_directive on receipts (workspace_id, directive_id, seq) where directive_id is not null;
alter table receipts enable row level security;
alter table receipts force row level security;
-- A member may leave a receipt for the whole workspace (the kill switch) that only those who see all may read.
do $$
begin
  execute format('create policy append on receipts for insert with check (%s)', app.own_workspace());
  execute format('create policy isolation on receipts for select using (%s and %s)',
    app.own_workspace(), app.own_teams());
end $$;
grant select, insert on receipts to consigliere_app;

create function app.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'receipts are append-only' using errcode = 'restrict_violation';
end $$;
create trigger receipts_are_final before update or delete or truncate on receipts
  for each statement execute function app.refuse_change();

create table signing_keys (
  key_id text primary key,
  public_key text not null,
  sealed_private_key text not null,
  created_at timestamptz not null default now()
);
grant select, insert on signing_keys to consigliere_app;

create table receipt_checkpoints (
  workspace_id text not null references workspaces,
  seq bigint not null,
  hash text not null,
  signed_at timestamptz not null,
  key_id text not null references signing_keys,
  signature text not null,
  primary key (workspace_id, seq)
);
select app.isolate('receipt_checkpoints', false), app.allow_system_reads('receipt_checkpoints');
grant select, insert on receipt_checkpoints to consigliere_app;
create trigger checkpoints_are_final before update or delete or truncate on receipt_checkpoints
  for each statement execute function app.refuse_change();

-- Chains whose head should come under a signed checkpoint: 1,000 receipts or 60 seconds after the last.
create function app.unsigned_chains(p_limit int) returns table (workspace_id text, seq bigint, hash text)
  language sql stable security definer set search_path = public, pg_temp as $$
  select h.workspace_id, h.seq, h.hash
  from receipt_heads h
  left join lateral (
    select c.seq, c.signed_at from receipt_checkpoints c
    where c.workspace_id = h.workspace_id order by c.seq desc limit 1
  ) last on true
  where h.seq > coalesce(last.seq, 0)
    and (last.seq is null or h.seq - last.seq >= 1000 or last.signed_at < now() - interval '60 seconds')
  limit p_limit
$$;
alter function app.unsigned_chains owner to consigliere_system;
`;

const ADMISSION = /* sql */ `
create table idempotency_keys (
  workspace_id text not null,
  member_id text not null,
  key text not null,
  fingerprint text not null,
  status smallint not null,
  content_type text not null,
  headers jsonb not null,
  body text not null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, member_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
select app.isolate('idempotency_keys', false);
grant select, insert, update, delete on idempotency_keys to consigliere_app;
create policy system_expires on idempotency_keys to consigliere_system
  using (created_at < now() - interval '24 hours');
grant select, delete on idempotency_keys to consigliere_system;

-- The advisory lock makes a second request with the same key wait for the first, the look-up after it has a snapshot
-- of its own (the function is volatile) and so sees what the first has committed.
create function app.claim_key(p_workspace_id text, p_member_id text, p_key text) returns setof idempotency_keys
  language plpgsql set search_path = public, pg_temp as $$
begin
  set local lock_timeout = '10s';
  perform pg_advisory_xact_lock(hashtextextended(p_workspace_id || ' ' || p_member_id || ' ' || p_key, 1));
  set local lock_timeout = 0;
  return query select * from idempotency_keys i
    where i.workspace_id = p_workspace_id and i.member_id = p_member_id and i.key = p_key
      and i.created_at > now() - interval '24 hours';
end $$;
grant execute on function app.claim_key to consigliere_app;

create function app.expire_keys() returns bigint
  language sql security definer set search_path = public, pg_temp as $$
  with gone as (
    delete from idempotency_keys where created_at < now() - interval '24 hours' returning 1
  ) select count(*) from gone
$$;
alter function app.expire_keys owner to consigliere_system;

-- Counters are worth nothing after a crash of the server, so they are not written to its log.
create unlogged table rate_windows (
  key text primary key,
  hits bigint not null,
  ends_at timestamptz not null
);
create index rate_windows_by_end on rate_windows (ends_at);
grant select, insert, update, delete on rate_windows to consigliere_app;

-- The counters of the tier's day, which outlive a restart.
create table tier_days (
  workspace_id text not null references workspaces,
  day date not null,
  hits bigint not null,
  primary key (workspace_id, day)
);
select app.isolate('tier_days', false);
grant select, insert, update on tier_days to consigliere_app;
`;

const FINISH = /* sql */ `
-- Ends an act in one round trip: jobs, the stored answer, then the receipts. The chain's head is locked last, so no
-- client round trip happens while it is held; COMMIT travels behind this call.
create function app.finish(act jsonb) returns void
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  receipt jsonb;
  head_seq bigint;
  head_hash text;
  next_hash text;
begin
  if act ? 'jobs' then
    perform graphile_worker.add_jobs(array(
      select (job->>'task', job->'payload', null, (job->>'runAt')::timestamptz, 3, job->>'key', null, null)::graphile_worker.job_spec
      from jsonb_array_elements(act->'jobs') job));
  end if;
  if act ? 'notices' then
    perform pg_notify('consigliere', notice) from jsonb_array_elements_text(act->'notices') notice;
  end if;
  if act ? 'answer' then
    insert into idempotency_keys as kept
      (workspace_id, member_id, key, fingerprint, status, content_type, headers, body, created_at)
    values (act->>'workspaceId', act->'answer'->>'memberId', act->'answer'->>'key', act->'answer'->>'fingerprint',
      (act->'answer'->>'status')::smallint, act->'answer'->>'contentType', act->'answer'->'headers',
      act->'answer'->>'body', now())
    on conflict (workspace_id, member_id, key) do update set
      fingerprint = excluded.fingerprint, status = excluded.status, content_type = excluded.content_type,
      headers = excluded.headers, body = excluded.body, created_at = excluded.created_at;
  end if;
  if act ? 'receipts' then
    select seq, hash into strict head_seq, head_hash from receipt_heads
      where workspace_id = act->>'workspaceId' for update;
    for receipt in select value from jsonb_array_elements(act->'receipts') loop
      next_hash := encode(sha256(convert_to(head_hash || (receipt->>'body'), 'UTF8')), 'hex');
      head_seq := head_seq + 1;
      insert into receipts (workspace_id, seq, receipt_id, at, actor_type, actor_id, action, entity_type, entity_id,
        directive_id, team_id, capo, body, prev_hash, hash)
      values (act->>'workspaceId', head_seq, receipt->>'receiptId', to_timestamp((receipt->>'at')::float8 / 1000),
        receipt->>'actorType', receipt->>'actorId', receipt->>'action', receipt->>'entityType',
        receipt->>'entityId', receipt->>'directiveId', receipt->>'teamId', receipt->>'capo', receipt->>'body',
        head_hash, next_hash);
      head_hash := next_hash;
    end loop;
    update receipt_heads set seq = head_seq, hash = head_hash where workspace_id = act->>'workspaceId';
  end if;
end $$;
revoke execute on function app.finish from public;
grant execute on function app.finish to consigliere_app;
`;
