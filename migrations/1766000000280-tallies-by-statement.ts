import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Tallies are counted once for each statement instead of once for each row, and what a row counts for is written down once:
 * `app.counts_of` says it of one row, the view `app.counted` of all rows, and both the triggers and `app.recount_tallies` read it
 * (docs/decisions/0059).
 */
export class TalliesByStatement1766000000280 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(LOCK);
    await queryRunner.query(COUNTS);
    await queryRunner.query(TRIGGERS);
    await queryRunner.query(CHANGES);
  }

  async down(): Promise<void> {
    throw new Error(
      'The former triggers stand in many migrations; restore a backup to go back behind this one.',
    );
  }
}

/** Nobody writes between the two ways of counting. */
const LOCK = /* sql */ `
lock table approvals, directives, work_packets, action_requests, signals, partner_events, revenue_events, eval_runs,
  model_charges, tally_changes in access exclusive mode;
`;

/**
 * Each function is one SELECT, which the planner puts into the statement that calls it. What began or ended at a time that nobody noted
 * has no bucket and counts for nothing.
 */
const COUNTS = /* sql */ `
create type app.counted_as as (kind text, key text, bucket timestamptz, n int, amount numeric);

create function app.quarter_of(p_at timestamptz) returns timestamptz language sql immutable
  return date_bin('15 minutes', p_at, timestamptz '2001-01-01 00:00:00+00');

-- Drafts of the built-in runner cost nothing, and count for nothing.
create function app.counts_of(d public.directives) returns setof app.counted_as language sql stable as $$
  select c.* from (values
    ('directives', d.status || ' ' || coalesce(d.capo, ''), timestamptz '-infinity', 1, 0::numeric),
    ('cost', d.cost->>'currency', case when (d.cost->>'amount')::numeric <> 0
      then app.quarter_of(coalesce(d.started_at, d.created_at)) end, 1, (d.cost->>'amount')::numeric)
  ) c (kind, key, bucket, n, amount) where c.bucket is not null
$$;

-- What waits for a person is told apart by whether its draft is there. 'pending' says when one more waited, and when one fewer did.
create function app.counts_of(a public.approvals) returns setof app.counted_as language sql stable as $$
  select c.* from (values
    ('approvals', case when a.status = 'pending' and a.ready then 'ready' else a.status end || ' ' || coalesce(a.capo, ''),
      timestamptz '-infinity', 1, 0::numeric),
    ('pending', '', app.quarter_of(a.requested_at), 1, 0),
    ('pending', '', case when a.status <> 'pending' then app.quarter_of(coalesce(a.decided_at, a.requested_at)) end, -1, 0),
    ('approvals_expired', '', case when a.status = 'expired' then app.quarter_of(a.decided_at) end, 1, 0)
  ) c (kind, key, bucket, n, amount) where c.bucket is not null
$$;

-- What was carried out stays counted on its day when it is undone later.
create function app.counts_of(p public.work_packets) returns setof app.counted_as language sql stable as $$
  select c.* from (values
    ('packets', p.status, timestamptz '-infinity', 1, 0::numeric),
    ('executed', '', case when p.status in ('executed', 'reverted') then app.quarter_of(p.executed_at) end, 1, 0)
  ) c (kind, key, bucket, n, amount) where c.bucket is not null
$$;

create function app.counts_of(r public.action_requests) returns setof app.counted_as language sql stable as $$
  select 'actions', o.key, o.at, 1, 0::numeric from app.outcomes_of_action(r) o
$$;

create function app.counts_of(s public.signals) returns setof app.counted_as language sql stable as $$
  select 'signals', c.key, timestamptz '-infinity', 1, 0::numeric from (values
    ('scored', s.score is not null), ('open', s.withdrawn_at is null and s.acknowledged_at is null)
  ) c (key, is_so) where c.is_so
$$;

create function app.counts_of(e public.partner_events) returns setof app.counted_as language sql stable as $$
  select 'partner', e.metric, app.quarter_of(e.received_at), 1, e.delta::numeric
$$;

create function app.counts_of(e public.revenue_events) returns setof app.counted_as language sql stable as $$
  select 'team_revenue', e.currency, app.quarter_of(e.occurred_at), 1, e.amount
$$;

-- The amount is how many of the runs passed.
create function app.counts_of(r public.eval_runs) returns setof app.counted_as language sql stable as $$
  select 'evals', '', app.quarter_of(r.created_at), 1, r.passed::int::numeric
$$;

create function app.counts_of(m public.model_charges) returns setof app.counted_as language sql stable as $$
  select 'cost', m.currency, app.quarter_of(m.charged_at), 1, m.amount where m.amount <> 0
$$;

-- Everything that the tallies count. Updates of the partner and what models cost beside directives belong to no team.
create view app.counted with (security_invoker = true) as
select r.workspace_id, r.team_id, c.* from public.directives r cross join lateral app.counts_of(r) c
union all
select r.workspace_id, r.team_id, c.* from public.approvals r cross join lateral app.counts_of(r) c
union all
select r.workspace_id, r.team_id, c.* from public.work_packets r cross join lateral app.counts_of(r) c
union all
select r.workspace_id, r.team_id, c.* from public.action_requests r cross join lateral app.counts_of(r) c
union all
select r.workspace_id, r.team_id, c.* from public.signals r cross join lateral app.counts_of(r) c
union all
select r.workspace_id, null, c.* from public.partner_events r cross join lateral app.counts_of(r) c
union all
select r.workspace_id, r.team_id, c.* from public.revenue_events r cross join lateral app.counts_of(r) c
union all
select r.workspace_id, r.team_id, c.* from public.eval_runs r cross join lateral app.counts_of(r) c
union all
select r.workspace_id, r.team_id, c.* from public.model_charges r cross join lateral app.counts_of(r) c;
`;

/**
 * One function for each table, since a transition table takes the type of its own. They write as the role that adds up, so that no
 * policy is asked for each statement and no act can write a change by itself.
 */
const TRIGGERS = /* sql */ `
do $$
declare
  source record;
  former record;
begin
  for former in select t.tgname, t.tgrelid::regclass as source from pg_trigger t
      where t.tgname in ('count_insert', 'count_update', 'count_change') and not t.tgisinternal loop
    execute format('drop trigger %I on %s', former.tgname, former.source);
  end loop;
  for source in select * from (values
    ('directives', 'team_id', true), ('approvals', 'team_id', true), ('work_packets', 'team_id', true),
    ('action_requests', 'team_id', true), ('signals', 'team_id', true), ('partner_events', 'null::text', false),
    ('revenue_events', 'team_id', false), ('eval_runs', 'team_id', false), ('model_charges', 'team_id', false)
  ) s (name, team, is_changed) loop
    execute format($function$
create function app.count_%1$s() returns trigger language plpgsql security definer set search_path = public, pg_temp as $body$
begin
  if tg_op = 'INSERT' then
    insert into tally_changes (workspace_id, team_id, kind, key, bucket, n, amount)
    select r.workspace_id, %2$s, c.kind, c.key, c.bucket, sum(c.n), sum(c.amount)
    from new_rows r cross join lateral app.counts_of(r::%1$s) c
    group by 1, 2, 3, 4, 5;
  else
    insert into tally_changes (workspace_id, team_id, kind, key, bucket, n, amount)
    select c.workspace_id, c.team_id, c.kind, c.key, c.bucket, sum(c.n), sum(c.amount)
    from (
      select r.workspace_id, %2$s as team_id, c.kind, c.key, c.bucket, -c.n as n, -c.amount as amount
      from old_rows r cross join lateral app.counts_of(r::%1$s) c
      union all
      select r.workspace_id, %2$s, c.kind, c.key, c.bucket, c.n, c.amount
      from new_rows r cross join lateral app.counts_of(r::%1$s) c
    ) c
    group by 1, 2, 3, 4, 5 having sum(c.n) <> 0 or sum(c.amount) <> 0;
  end if;
  return null;
end $body$;
revoke execute on function app.count_%1$s from public;
alter function app.count_%1$s owner to consigliere_system;
create trigger count_insert after insert on %1$s referencing new table as new_rows
  for each statement execute function app.count_%1$s();
$function$, source.name, source.team);
    if source.is_changed then
      execute format($trigger$
create trigger count_update after update on %1$s referencing old table as old_rows new table as new_rows
  for each statement execute function app.count_%1$s();
$trigger$, source.name);
    end if;
  end loop;
end $$;
drop function app.count_directive, app.count_approval, app.count_packet, app.count_action_request, app.count_signal,
  app.count_partner_event, app.count_revenue, app.count_eval_run, app.count_model_charge;
`;

/** One index serves both those who add a workspace's changes to its tallies and the fold. */
const CHANGES = /* sql */ `
drop index tally_changes_of_workspace;
alter table tally_changes drop constraint tally_changes_pkey, add primary key (workspace_id, change_id);
revoke insert on tally_changes from consigliere_app;
`;
