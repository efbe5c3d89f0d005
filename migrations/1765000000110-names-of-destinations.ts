import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The connectors of destinations are named by their descriptions or ids, and by their hosts no more, which are an admin's matter
 * (docs/decisions/0029).
 */
export class NamesOfDestinations1765000000110 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      renamed(`case when d.description in ('', d.url) then 'Webhook destination ' || d.destination_id
    else d.description end`),
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      renamed(`coalesce(left(substring(d.url from '^https?://([^/?#]+)'), 280), 'Webhook')`),
    );
  }
}

const renamed = (name: string) => /* sql */ `
alter table connectors no force row level security;
alter table webhook_destinations no force row level security;
update connectors c set name = ${name}
from webhook_destinations d
where c.kind = 'webhook' and d.workspace_id = c.workspace_id and d.destination_id = c.subject;
alter table webhook_destinations force row level security;
alter table connectors force row level security;
`;
