import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Receipts, heads, checkpoints and signing keys are written through functions alone, and a new signing key is signed by
 * the one before it.
 */
export class ReceiptWriters1763700200000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
-- A row that was put in behind the head took the number of the next receipt, and every later act of the workspace failed.
revoke insert on receipts, receipt_heads, receipt_checkpoints, signing_keys from consigliere_app;

-- The head that begins a chain is written by whoever makes the workspace: as the owner, now that the program may not.
alter function app.begin_chain() security definer set search_path = public, pg_temp;

alter table signing_keys
  add column signed_by text references signing_keys,
  add column signature text,
  add constraint signing_keys_are_signed check ((signed_by is null) = (signature is null));
-- Two processes that renew the key at the same moment end with one new key.
create unique index signing_keys_by_signer on signing_keys (signed_by) where signed_by is not null;
`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
drop function if exists app.add_checkpoint, app.add_signing_key;
delete from sql_functions where name in ('add-checkpoint', 'add-signing-key');
alter table signing_keys drop column signed_by, drop column signature;
alter function app.begin_chain() security invoker reset search_path;
grant insert on receipts, receipt_heads, receipt_checkpoints, signing_keys to consigliere_app;
`);
  }
}
