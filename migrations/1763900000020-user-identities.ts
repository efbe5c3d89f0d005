import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who people are at the provider of OpenID Connect, and which of its answers were used already. */
export class UserIdentities1763900000020 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(IDENTITIES);
    await queryRunner.query(SPENT_STATES);
  }

  async down(): Promise<void> {
    throw new Error('accounts would lose their identities: restore a backup instead');
  }
}

/**
 * An account belongs to no workspace, and neither does its identity: the program reads and adds them only by the functions
 * app.find_identity and app.add_identity. An account has one identity at an issuer, so that whoever is given the mail
 * address of somebody who left does not get their account with it.
 */
const IDENTITIES = /* sql */ `
create table user_identities (
  issuer text not null,
  subject text not null,
  user_id text not null references users on delete cascade,
  linked_at timestamptz not null default now(),
  primary key (issuer, subject),
  unique (user_id, issuer)
);
alter table user_identities enable row level security;
alter table user_identities force row level security;
create policy system_keeps on user_identities to consigliere_system using (true) with check (true);
grant select, insert on user_identities to consigliere_system;
`;

/** An answer of the provider counts once, whatever the provider makes of a code that comes twice. */
const SPENT_STATES = /* sql */ `
create table oidc_spent_states (
  state_hash text primary key,
  expires_at timestamptz not null
);
create index oidc_spent_states_by_end on oidc_spent_states (expires_at);
alter table oidc_spent_states enable row level security;
alter table oidc_spent_states force row level security;
create policy system_keeps on oidc_spent_states to consigliere_system using (true) with check (true);
grant select, insert, delete on oidc_spent_states to consigliere_system;
`;
