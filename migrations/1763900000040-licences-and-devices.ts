import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The licence that a workspace has installed, and the devices that its members hydrate. */
export class LicencesAndDevices1763900000040 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(LICENCES);
    await queryRunner.query(DEVICES);
    await queryRunner.query(RECEIPT_HASHES);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
  }
}

/** One for each workspace; tier_before is what it has without a licence. */
const LICENCES = /* sql */ `
create table licences (
  workspace_id text primary key references workspaces,
  licence_id text not null,
  number bigint not null,
  licence_key text not null,
  tier text not null check (tier in ('free', 'pro', 'enterprise')),
  entitlements text[] not null,
  issued_at timestamptz not null,
  expires_at timestamptz not null check (issued_at < expires_at),
  installed_at timestamptz not null,
  installed_by jsonb not null,
  tier_before text not null check (tier_before in ('free', 'pro', 'enterprise')),
  told_status text not null check (told_status in ('active', 'grace', 'expired'))
);
create index licences_to_tell on licences (expires_at) where told_status <> 'expired';
select app.isolate('licences', false), app.allow_system_reads('licences');
grant select, insert, update on licences to consigliere_app;
`;

const DEVICES = /* sql */ `
create table devices (
  workspace_id text not null references workspaces,
  member_id text not null references members,
  device_id text not null check (char_length(device_id) between 1 and 64),
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  primary key (workspace_id, member_id, device_id)
);
select app.isolate('devices', false);
grant select, insert, update, delete on devices to consigliere_app;
`;

/** For app.receipt_hash alone. */
const RECEIPT_HASHES = /* sql */ `
create policy system_reads on receipts for select to consigliere_system using (true);
grant select (workspace_id, seq, hash) on receipts to consigliere_system;
`;

const DOWN = /* sql */ `
drop function if exists app.untold_licences, app.receipt_hash;
drop policy system_reads on receipts;
revoke select (workspace_id, seq, hash) on receipts from consigliere_system;
drop table devices, licences;
`;
