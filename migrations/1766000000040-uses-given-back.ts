import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Uses that are given back when their work packet certainly was not sent, and counters that no clock leads astray. */
export class UsesGivenBack1766000000040 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(): Promise<void> {
    throw new Error(
      'this migration changes how the uses of standing orders are counted: restore a backup instead',
    );
  }
}

/**
 * `hour_from` and `day_from` are the oldest use that is counted, where they were the end of what was taken off. What was counted
 * before, perhaps by a clock that was ahead, is counted once more.
 */
const UP = /* sql */ `
create index standing_order_uses_of_packet on standing_order_uses (workspace_id, work_packet_id);
alter table standing_order_uses alter column spent set default 0;
revoke update (at) on standing_order_uses from consigliere_app;
grant delete on standing_order_uses to consigliere_app;

-- Whose sum spent is; null for an order without a budget.
alter table standing_order_usage add column currency text, drop column hour_oldest, drop column day_oldest;
alter table standing_order_usage no force row level security;
update standing_order_usage set hour_uses = null, day_uses = null, day_since = '-infinity', window_since = '-infinity';
alter table standing_order_usage force row level security;

create or replace function app.count_use() returns trigger language plpgsql set search_path = public, pg_temp as $$
declare
  used constant standing_order_uses := coalesce(new, old);
  n constant int := case tg_op when 'INSERT' then 1 else -1 end;
begin
  update standing_order_usage u set
    hour_uses = u.hour_uses + n * (used.at >= u.hour_from)::int,
    day_uses = u.day_uses + n * (used.at >= u.day_from)::int,
    last_at = greatest(u.last_at, used.at),
    amounts = case when used.currency is null or used.at < u.day_since then u.amounts
      else u.amounts || jsonb_build_object(used.currency, coalesce((u.amounts->>used.currency)::numeric, 0) + n * used.amount) end,
    spent = u.spent + case when used.at >= u.window_since and used.currency = u.currency then n * used.amount else 0 end
  where u.workspace_id = used.workspace_id and u.standing_order_id = used.standing_order_id;
  return null;
end $$;
-- What retention deletes, as the system, is in no window any more.
create trigger give_back_use after delete on standing_order_uses for each row when (current_user <> 'consigliere_system')
  execute function app.count_use();
`;
