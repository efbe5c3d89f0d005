import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What each standing order has let through lately, kept by each use instead of being counted at each decision. */
export class OrderUsage1763700402000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
drop trigger count_use on standing_order_uses;
drop trigger recount_use on standing_order_uses;
drop function app.count_use, app.recount_use;
drop table standing_order_usage;
`);
  }
}

const UP = /* sql */ `
create table standing_order_usage (
  workspace_id text not null references workspaces,
  standing_order_id text not null,
  -- The uses after hour_from. A decision takes off those that have left its hour since, so each use is counted once and
  -- taken off once, however often is decided in between. Null until it was counted.
  hour_uses bigint,
  hour_from timestamptz not null default '-infinity',
  day_uses bigint,
  day_from timestamptz not null default '-infinity',
  last_at timestamptz not null default '-infinity',
  -- Since the last midnight of the workspace, by currency.
  day_since timestamptz not null default '-infinity',
  amounts jsonb not null default '{}',
  -- Since its budget's day, week or month began.
  window_since timestamptz not null default '-infinity',
  spent numeric not null default 0,
  primary key (workspace_id, standing_order_id)
) with (fillfactor = 50);
select app.isolate('standing_order_usage', false);
grant select, insert, update on standing_order_usage to consigliere_app;

create function app.count_use() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  update standing_order_usage u set
    hour_uses = u.hour_uses + (new.at > u.hour_from)::int,
    day_uses = u.day_uses + (new.at > u.day_from)::int,
    last_at = greatest(u.last_at, new.at),
    amounts = case when new.currency is null or new.at < u.day_since then u.amounts
      else u.amounts || jsonb_build_object(new.currency, coalesce((u.amounts->>new.currency)::numeric, 0) + new.amount) end,
    spent = u.spent + case when new.at >= u.window_since then new.spent else 0 end
  where u.workspace_id = new.workspace_id and u.standing_order_id = new.standing_order_id;
  return null;
end $$;
-- A use that is renewed leaves one place of the windows for another: all is counted once more, by the next decision.
create function app.recount_use() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  update standing_order_usage u set hour_uses = null, day_uses = null, day_since = '-infinity', window_since = '-infinity'
  where u.workspace_id = new.workspace_id and u.standing_order_id = new.standing_order_id;
  return null;
end $$;
create trigger recount_use after update on standing_order_uses for each row execute function app.recount_use();
create trigger count_use after insert on standing_order_uses for each row execute function app.count_use();
`;
