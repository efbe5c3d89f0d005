import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A change of status writes every index of its row anew. One index with the status and the capo in front of the time serves the lists
 * of a status, of a capo, and of both: a list of one of the two is merged from its parts (docs/decisions/0059).
 */
export class DirectivesByStatusAndCapo1766000000450 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
create index directives_by_status_and_capo on directives (workspace_id, status, capo, created_at desc, directive_id desc);
drop index directives_by_capo_status, directives_by_status, directives_newest_of_capo;
create index work_packets_by_status_and_capo on work_packets
  (workspace_id, status, capo, created_at desc, position, work_packet_id);
drop index work_packets_by_capo_status, work_packets_by_status;
`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
create index directives_by_capo_status on directives (workspace_id, capo, status, created_at desc, directive_id desc);
create index directives_by_status on directives (workspace_id, status, created_at desc, directive_id desc);
create index directives_newest_of_capo on directives (workspace_id, capo, created_at desc, directive_id desc);
drop index directives_by_status_and_capo;
create index work_packets_by_capo_status on work_packets
  (workspace_id, capo, status, created_at desc, position, work_packet_id);
create index work_packets_by_status on work_packets (workspace_id, status, created_at desc, position, work_packet_id);
drop index work_packets_by_status_and_capo;
`);
  }
}
