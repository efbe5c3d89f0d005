import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What became of the requests of each agent from outside, for `GET /kpi`: one figure per request and outcome, taken back when the
 * row says otherwise, so that the figures can be counted again from the rows.
 */
export class AgentFigures1766000000180 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
-- In the order of the program, which locks requests before it counts anything.
lock table action_requests, tally_changes in access exclusive mode;
create function app.outcomes_of_action(r action_requests) returns table (key text, at timestamptz) language sql immutable
  set search_path = public, pg_temp as $$
  select o.outcome || ' ' || coalesce(r.agent, r.requested_by->>'name'),
    date_bin('15 minutes', o.at, timestamptz '2001-01-01 00:00:00+00')
  from (values
    (case when r.status = 'denied' then 'denied' else r.decision->>'outcome' end,
      coalesce(to_timestamp((r.decision->>'decidedAt')::float8 / 1000), r.created_at)),
    (case r.result->>'outcome' when 'succeeded' then 'completed' when 'failed' then 'failed' end,
      to_timestamp((r.result->>'at')::float8 / 1000)),
    (case when r.status = 'unconfirmed' then 'unconfirmed' end, r.complete_by)) o (outcome, at)
  where o.outcome is not null
$$;

create function app.count_action_request() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  insert into tally_changes (workspace_id, team_id, kind, key, bucket, n, amount)
  select new.workspace_id, c.team_id, 'actions', c.key, c.at, sum(c.n), 0
  from (select old.team_id, o.key, o.at, -1 as n from app.outcomes_of_action(old) o
    union all select new.team_id, o.key, o.at, 1 from app.outcomes_of_action(new) o) c
  group by c.team_id, c.key, c.at having sum(c.n) <> 0;
  return null;
end $$;
-- Not for what changes no figure: a kill voids many rows at once.
create trigger count_insert after insert on action_requests for each row
  when (new.decision is not null or new.status = 'denied') execute function app.count_action_request();
create trigger count_change after update on action_requests for each row
  when ((old.decision, old.result, old.team_id, old.status in ('denied', 'unconfirmed'))
    is distinct from (new.decision, new.result, new.team_id, new.status in ('denied', 'unconfirmed')))
  execute function app.count_action_request();

do $$
declare
  source text;
  sources constant text[] := '{action_requests,tally_changes}';
begin
  foreach source in array sources loop
    execute format('alter table %I no force row level security', source);
  end loop;
  insert into tally_changes (workspace_id, team_id, kind, key, bucket, n, amount)
  select r.workspace_id, r.team_id, 'actions', o.key, o.at, count(*), 0
  from action_requests r cross join lateral app.outcomes_of_action(r) o group by 1, 2, 4, 5;
  foreach source in array sources loop
    execute format('alter table %I force row level security', source);
  end loop;
end $$;
`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(/* sql */ `
drop function app.count_action_request cascade;
drop function app.outcomes_of_action;
do $$
declare
  source text;
  sources constant text[] := '{tally_changes,kpi_figures}';
begin
  foreach source in array sources loop
    execute format('alter table %I no force row level security', source);
    execute format('delete from %I where kind = ''actions''', source);
    execute format('alter table %I force row level security', source);
  end loop;
end $$;
`);
  }
}
