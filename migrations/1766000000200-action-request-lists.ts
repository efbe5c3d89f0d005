import type { MigrationInterface, QueryRunner } from 'typeorm';

/** One index for each way in which action requests are listed, and one for what waits for each agent. */
export class ActionRequestLists1766000000200 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [name, columns, condition] of INDEXES)
      await queryRunner.query(
        `create index ${name} on action_requests (workspace_id, ${columns}) ${condition}`,
      );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const [name] of INDEXES) await queryRunner.query(`drop index ${name}`);
  }
}

const NEWEST = 'created_at desc, action_request_id desc';
const INDEXES = [
  ['action_requests_by_status', `status, ${NEWEST}`, ''],
  ['action_requests_by_tool', `tool, ${NEWEST}`, ''],
  ['action_requests_by_agent', `agent, ${NEWEST}`, 'where agent is not null'],
  ['action_requests_by_token', `token_root_id, ${NEWEST}`, ''],
  ['action_requests_by_team', `team_id, ${NEWEST}`, 'where team_id is not null'],
  // Row-level security reads the team: with it in the index, the rows are not read to be counted.
  ['action_requests_pending', 'token_root_id, team_id', `where status = 'pending'`],
] as const;
