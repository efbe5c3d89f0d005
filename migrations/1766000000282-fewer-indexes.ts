import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A change of status writes every index of its row anew, so an index that no query needs, or that another one serves as well, costs at
 * each of some seven changes of a directive (docs/decisions/0059).
 */
export class FewerIndexes1766000000282 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
-- The lock on the chain's head and the primary key decide who is next; a chain written past both is found by the verifier.
alter table receipts drop constraint receipts_workspace_id_prev_hash_key;
-- Receipts are found by what they are about, not by its directive.
drop index receipts_by_directive;

-- One directive has few packets, so work_packets_by_directive, which the foreign key needs, leads to those of a place too.
drop index work_packets_of_directive;
-- Packets of a capo are merged from its statuses.
drop index work_packets_newest_of_capo;

-- Who asks by the time of execution asks about what was executed, and who asks by the start asks what was paid.
drop index directives_by_capo, directives_started;
create index directives_by_capo on directives (workspace_id, capo, executed_at desc) where executed_at is not null;
create index directives_paid on directives (workspace_id, started_at)
  where started_at is not null and (cost->>'amount')::numeric <> 0;
`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
drop index directives_by_capo, directives_paid;
create index directives_by_capo on directives (workspace_id, capo, executed_at desc);
create index directives_started on directives (workspace_id, started_at) where started_at is not null;
create index work_packets_newest_of_capo on work_packets (workspace_id, capo, created_at desc, position, work_packet_id);
create index work_packets_of_directive on work_packets (workspace_id, directive_id, position);
create index receipts_by_directive on receipts (workspace_id, directive_id, seq) where directive_id is not null;
alter table receipts add unique (workspace_id, prev_hash);
`);
  }
}
