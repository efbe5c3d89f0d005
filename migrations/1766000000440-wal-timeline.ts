import type { MigrationInterface, QueryRunner } from 'typeorm';

/** On which timeline the primary writes, so that a replica that has not followed a failover is told from one that has. */
export class WalTimeline1766000000440 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop table wal_timeline');
  }
}

const UP = /* sql */ `
create table wal_timeline (
  is_only_row boolean primary key default true check (is_only_row),
  timeline text not null check (timeline ~ '^[0-9A-F]{8}$')
);
insert into wal_timeline (timeline) values ('00000000');
revoke all on wal_timeline from public;
grant select, update (timeline) on wal_timeline to consigliere_app;
`;
