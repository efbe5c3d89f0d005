import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What decisions need to be right when they are made, and when they are made again as a work packet leaves. */
export class Policy1763700300000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(USES);
    await queryRunner.query(DEADLINES);
    await queryRunner.query(FOUR_EYES);
  }

  async down(): Promise<void> {
    throw new Error('this migration holds the records of work: restore a backup instead');
  }
}

/** A work packet that waited over the end of a window counts in the window in which it leaves. */
const USES = /* sql */ `
grant update (at) on standing_order_uses to consigliere_app;
`;

/**
 * What is approved after the deadline comes too late; the approval knows it, so that deciding reads one row. Row-level
 * security holds for the owner of a table too, unless it is a superuser, and would show the update no rows.
 */
const DEADLINES = /* sql */ `
alter table approvals add column deadline timestamptz;
alter table approvals no force row level security;
alter table directives no force row level security;
update approvals a set deadline = d.deadline, expires_at = least(a.expires_at, d.deadline) from directives d
  where d.directive_id = a.directive_id and a.status = 'pending' and d.deadline is not null;
`;

/**
 * Four eyes are not passed by delegation, nor by a token that a member made for another. Who made the tokens that are
 * there stands in their receipts.
 */
const FOUR_EYES = /* sql */ `
alter table tokens add column made_by text[] not null default '{}';
alter table tokens no force row level security;
alter table receipts no force row level security;
update tokens t set made_by = array[r.actor_id] from receipts r
  where r.workspace_id = t.workspace_id and r.actor_type = 'member' and r.actor_id <> t.member_id
    and ((r.action = 'token.created' and r.entity_id = t.token_id)
      or (r.action = 'token.rotated' and r.body::jsonb->'details'->>'newTokenId' = t.token_id));
alter table receipts force row level security;
alter table tokens force row level security;

alter table directives add column requested_by jsonb, add column requester_ids text[] not null default '{}';
update directives set requester_ids = array[created_by->>'id'] where created_by->>'type' = 'member';
alter table directives force row level security;

alter table approvals add column requester_ids text[] not null default '{}';
update approvals set requester_ids = array[requested_by->>'id'] where requested_by->>'type' = 'member';
alter table approvals force row level security;
`;
