import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The lists of questions, by their status too: a list of one status read past the questions of all others, and counted them row by
 * row. Row-level security reads the team: with it in the index, the rows are not read to be counted.
 */
export class QuestionsByStatus1766000000240 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await this.replace(queryRunner, (columns) => `${columns} status, ${NEWEST}) include (team_id`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await this.replace(queryRunner, (columns) => `${columns} ${NEWEST}`);
  }

  private async replace(queryRunner: QueryRunner, all: (columns: string) => string): Promise<void> {
    await queryRunner.query(`drop index ${INDEXES.map(([name]) => name).join(', ')}`);
    for (const [name, columns, condition] of INDEXES)
      await queryRunner.query(
        `create index ${name} on approvals (workspace_id, ${all(columns)}) where ${condition} is not null`,
      );
  }
}

const NEWEST = 'requested_at desc, question_id desc';
const INDEXES = [
  ['approvals_questions_newest', '', 'question_id'],
  ['approvals_questions_by_token', 'question_token_id,', 'question_id'],
  ['approvals_questions_by_agent', 'question_agent,', 'question_agent'],
] as const;
