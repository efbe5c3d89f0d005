import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What keeps an account its owner's: second factors, links for a forgotten password, and how often somebody has tried to
 * sign in. An account belongs to no workspace, so the program reaches these tables through functions alone.
 */
export class AccountSecurity1763900000010 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(PASSWORDS);
    await queryRunner.query(SECOND_FACTORS);
    await queryRunner.query(TRIES);
    await queryRunner.query(ACTS);
  }

  async down(): Promise<void> {
    throw new Error('second factors would be lost: restore a backup instead');
  }
}

/**
 * A row for each request, whether or not the address has an account: what the request writes, and so how long it takes,
 * says nothing about that. The token is kept sealed until it was mailed.
 */
const PASSWORDS = /* sql */ `
grant update (password_hash) on users to consigliere_system;
create policy system_sets_passwords on users for update to consigliere_system using (true);

create table password_resets (
  reset_id text primary key,
  email text not null,
  token_hash text not null unique,
  sealed_token text,
  requested_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index password_resets_of_address on password_resets (email, requested_at desc, reset_id desc);
create index password_resets_oldest on password_resets (requested_at);
grant select, insert, update, delete on password_resets to consigliere_system;
`;

/** last_step is the time step of the last code that was accepted: no code is accepted twice, nor one older than that. */
const SECOND_FACTORS = /* sql */ `
alter table workspaces add column second_factor text not null default 'optional'
  check (second_factor in ('optional', 'required'));

create table second_factors (
  user_id text primary key references users,
  sealed_secret text not null,
  begun_at timestamptz not null,
  confirmed_at timestamptz,
  last_step bigint
);
create table recovery_codes (
  user_id text not null references second_factors on delete cascade,
  code_hash text not null,
  used_at timestamptz,
  primary key (user_id, code_hash)
);
grant select, insert, update, delete on second_factors, recovery_codes to consigliere_system;
`;

/**
 * account is the SHA-256 of a mail address, known or not: what strangers have typed is kept no longer than it must be
 * compared. sign_in_rates counts over all addresses: each try adds five minutes to busy_until, and those pass by themselves.
 */
const TRIES = /* sql */ `
create table sign_in_tries (
  account text not null,
  address text not null,
  failed_at timestamptz[] not null default '{}',
  locked_until timestamptz,
  succeeded_at timestamptz,
  tried_at timestamptz not null,
  primary key (account, address)
);
create index sign_in_tries_oldest on sign_in_tries (tried_at);
create table sign_in_rates (
  account text primary key,
  busy_until timestamptz not null
);
create index sign_in_rates_oldest on sign_in_rates (busy_until);
create table sign_in_locks (
  lock_id text primary key,
  email text not null,
  address text not null,
  at timestamptz not null
);
grant select, insert, update, delete on sign_in_tries, sign_in_rates, sign_in_locks to consigliere_system;
`;

/**
 * An act on an account has a receipt in the chain of each workspace that the account is a member of, and a mail to its owner.
 * Both are written by work, since a transaction appends to one chain only; the rows are there until that is done.
 */
const ACTS = /* sql */ `
create table account_acts (
  act_id text primary key,
  workspace_id text not null,
  member_id text not null,
  action text not null,
  via text,
  details jsonb not null,
  at timestamptz not null
);
select app.isolate('account_acts', false), app.allow_system_reads('account_acts');
grant select, delete on account_acts to consigliere_app;
create policy system_records on account_acts for insert to consigliere_system with check (true);
grant insert on account_acts to consigliere_system;

create table account_mails (
  mail_id text primary key,
  user_id text not null references users,
  notice text not null,
  details jsonb not null,
  at timestamptz not null
);
grant select, insert, delete on account_mails to consigliere_system;
`;
