import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Finds what is rare in a long chain, whoever asks for it (docs/performance.md has the figures). */
export class ReceiptIndexes1763600400000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(INDEXES);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
drop function app.first_seq_from, app.last_seq_to;
drop index receipts_by_actor, receipts_by_capo, receipts_by_team, receipts_by_time, receipts_by_action;
create index receipts_by_action on receipts (workspace_id, action, seq);
`);
  }
}

const INDEXES = /* sql */ `
create index receipts_by_actor on receipts (workspace_id, actor_id, seq);
-- Partial: a hand-in without a capo or a team pays nothing for them.
create index receipts_by_capo on receipts (workspace_id, capo, seq) where capo is not null;
create index receipts_by_team on receipts (workspace_id, team_id, seq) where team_id is not null;
create index receipts_by_time on receipts (workspace_id, at);

-- A range of times as a range of numbers: by time alone, a page of last year was a walk through all of this one.
-- Numbers grow with time but for the clocks of the processes, which may differ by a minute. Functions, because a
-- condition with a sub-select could leak rows past row-level security for all the planner knows, so that it would not
-- use the index for it.
create function app.first_seq_from(p_workspace_id text, p_from timestamptz) returns bigint
  language sql stable set search_path = public, pg_temp as $$
  select coalesce((select r.seq from receipts r
    where r.workspace_id = p_workspace_id and r.at < p_from - interval '1 minute' order by r.at desc limit 1), 0)
$$;
create function app.last_seq_to(p_workspace_id text, p_to timestamptz) returns bigint
  language sql stable set search_path = public, pg_temp as $$
  select coalesce((select r.seq from receipts r
    where r.workspace_id = p_workspace_id and r.at >= p_to + interval '1 minute' order by r.at limit 1),
    9223372036854775807)
$$;
grant execute on function app.first_seq_from, app.last_seq_to to consigliere_app;

-- Pattern operators serve a whole action and the beginning of one, whatever the database's collation.
drop index receipts_by_action;
create index receipts_by_action on receipts (workspace_id, action text_pattern_ops, seq);
`;
