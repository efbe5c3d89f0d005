import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Tokens can be limited to scopes, belong to an agent with the tools it may ask for, and be paused. Earlier tokens keep all
 * rights of their members.
 */
export class AgentTokens1766000000110 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`alter table tokens
      add column scopes text[],
      add column agent_name text,
      add column agent_name_key text,
      add column tools text[],
      add column root_id text,
      add column rotated_from text,
      add column paused_at timestamptz,
      add column paused_by jsonb,
      add constraint tokens_scopes_check check (scopes is null or cardinality(scopes) > 0
        and scopes <@ array['read', 'request', 'operate', 'decide', 'admin']),
      add constraint tokens_agent_check check (
        case when agent_name is null then agent_name_key is null and tools is null
          else agent_name_key is not null and cardinality(tools) between 1 and 50 and tools is not null
            and scopes is not distinct from array['request'] end),
      add constraint tokens_paused_check check ((paused_at is null) = (paused_by is null))`);
    await queryRunner.query(`create unique index tokens_agent_name on tokens (workspace_id, agent_name_key)
      where agent_name_key is not null and revoked_at is null`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`alter table tokens
      drop column scopes, drop column agent_name, drop column agent_name_key, drop column tools,
      drop column root_id, drop column rotated_from, drop column paused_at, drop column paused_by`);
  }
}
