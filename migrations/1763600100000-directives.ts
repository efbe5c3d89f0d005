import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The main job: directives, the moves they lead to, what stops them and what they leave behind. */
export class Directives1763600100000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(GUARDIAN);
    await queryRunner.query(OUTCOMES);
    await queryRunner.query(WORK);
    await queryRunner.query(OVERDUE);
  }

  async down(): Promise<void> {
    throw new Error('this migration holds the records of work: restore a backup instead');
  }
}

const GUARDIAN = /* sql */ `
create table guardians (
  workspace_id text primary key references workspaces,
  mode text not null default 'guardrailed'
    check (mode in ('observe', 'supervised', 'guardrailed', 'autonomous', 'killed', 'recovering')),
  mode_before_kill text,
  epoch bigint not null default 0,
  killed_at timestamptz,
  killed_by jsonb,
  reason text,
  last_checkpoint_id text,
  check ((mode = 'killed') = (killed_at is not null))
);
select app.isolate('guardians', false), app.allow_system_reads('guardians');
grant select, insert, update on guardians to consigliere_app;

create function app.begin_guardian() returns trigger language plpgsql as $$
begin
  insert into public.guardians (workspace_id) values (new.workspace_id);
  return null;
end $$;
create trigger begin_guardian after insert on workspaces for each row execute function app.begin_guardian();

create table reverts (
  revert_id text primary key,
  workspace_id text not null references workspaces,
  mode text not null,
  reason text,
  plan jsonb not null,
  created_by jsonb not null,
  created_at timestamptz not null
);
select app.isolate('reverts', false);
grant select, insert on reverts to consigliere_app;

create table standing_orders (
  standing_order_id text primary key,
  workspace_id text not null references workspaces,
  team_id text,
  name text not null,
  text text not null,
  capos text[],
  status text not null check (status in ('draft', 'shadow', 'active', 'paused', 'archived')),
  version int not null default 1,
  effect text not null check (effect in ('allow', 'require_approval', 'deny', 'throttle')),
  match jsonb not null,
  "when" jsonb,
  limits jsonb,
  budget jsonb,
  approval jsonb,
  expires_at timestamptz,
  held_because text,
  hash text not null,
  created_by jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  activated_at timestamptz
);
create index standing_orders_of_workspace on standing_orders (workspace_id, status, created_at desc);
select app.isolate('standing_orders', true);
grant select, insert, update on standing_orders to consigliere_app;

-- What each order has let through: its hourly, daily and budget windows are counted from here.
create table standing_order_uses (
  workspace_id text not null references workspaces,
  standing_order_id text not null,
  work_packet_id text not null,
  at timestamptz not null,
  amount numeric(18, 4) not null,
  currency text,
  spent numeric(18, 4) not null,
  primary key (workspace_id, standing_order_id, work_packet_id)
);
create index standing_order_uses_by_time on standing_order_uses (workspace_id, standing_order_id, at);
select app.isolate('standing_order_uses', false);
grant select, insert on standing_order_uses to consigliere_app;
`;

const OUTCOMES = /* sql */ `
create table signals (
  signal_id text primary key,
  workspace_id text not null references workspaces,
  team_id text,
  type text not null check (type in
    ('revenue', 'buyer', 'confidence', 'connector', 'policy', 'agent', 'report', 'partner')),
  severity text not null check (severity in ('info', 'warning', 'critical')),
  title text not null,
  body text not null,
  score double precision,
  source jsonb not null,
  capo text,
  entity jsonb,
  created_at timestamptz not null,
  acknowledged_at timestamptz,
  acknowledged_by jsonb,
  note text,
  snoozed_until timestamptz,
  withdrawn_at timestamptz
);
create index signals_newest on signals (workspace_id, created_at desc);
create index signals_scored on signals (workspace_id) where score is not null;
select app.isolate('signals', true);
grant select, insert, update on signals to consigliere_app;

create table revenue_events (
  event_id text primary key,
  workspace_id text not null references workspaces,
  amount numeric(18, 4) not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  source text not null,
  description text,
  occurred_at timestamptz not null,
  external_id text,
  recorded_by jsonb not null,
  created_at timestamptz not null,
  constraint revenue_events_external_id unique (workspace_id, external_id)
);
create index revenue_events_by_time on revenue_events (workspace_id, occurred_at desc);
select app.isolate('revenue_events', false);
grant select, insert on revenue_events to consigliere_app;

create table documents (
  document_id text primary key,
  workspace_id text not null references workspaces,
  team_id text,
  directive_id text not null,
  work_packet_id text not null,
  title text not null,
  body text not null,
  format text not null default 'markdown',
  created_at timestamptz not null,
  withdrawn_at timestamptz,
  constraint documents_once_per_packet unique (workspace_id, work_packet_id)
);
create index documents_newest on documents (workspace_id, created_at desc);
select app.isolate('documents', true);
grant select, insert, update on documents to consigliere_app;

create table paused_capos (
  workspace_id text not null references workspaces,
  capo text not null,
  paused_by jsonb not null,
  paused_at timestamptz not null,
  primary key (workspace_id, capo)
);
select app.isolate('paused_capos', false), app.allow_system_reads('paused_capos');
grant select, insert, delete on paused_capos to consigliere_app;
`;

const WORK = /* sql */ `
-- due_at is when anyone may take the row up: the time of the next try, or the end of the lease of who has it. Each
-- taking counts attempts up, and a result counts only under the attempt that made it.
create table directives (
  directive_id text primary key,
  workspace_id text not null references workspaces,
  team_id text,
  text text not null,
  capo text,
  routed_by text not null check (routed_by in ('operator', 'consigliere')),
  routing jsonb,
  priority text not null check (priority in ('high', 'medium', 'low')),
  requires_approval boolean not null,
  context jsonb not null,
  deadline timestamptz,
  status text not null check (status in ('pending_approval', 'queued', 'executing', 'sending', 'executed', 'failed',
    'rejected', 'expired', 'cancelled', 'halted', 'reverted')),
  halted_from text,
  stage text not null check (stage in ('route', 'draft', 'review', 'send', 'done')),
  approval_id text,
  work_packet_ids jsonb not null default '[]',
  output jsonb,
  engine jsonb,
  cost jsonb not null default '{"amount":0,"currency":"USD","tokensIn":0,"tokensOut":0}',
  error jsonb,
  feedback jsonb not null default '[]',
  history jsonb not null default '[]',
  created_by jsonb not null,
  created_at timestamptz not null,
  started_at timestamptz,
  executed_at timestamptz,
  due_at timestamptz,
  attempts int not null default 0
);
create index directives_newest on directives (workspace_id, created_at desc);
create index directives_by_capo on directives (workspace_id, capo, executed_at desc);
create index directives_open on directives (workspace_id, status)
  where status in ('pending_approval', 'queued', 'executing', 'sending', 'halted');
create index directives_due on directives (due_at) where due_at is not null;
create index directives_deadline on directives (deadline)
  where deadline is not null and status in ('pending_approval', 'queued', 'executing', 'halted');
select app.isolate('directives', true), app.allow_system_reads('directives');
grant select, insert, update on directives to consigliere_app;

create table work_packets (
  work_packet_id text primary key,
  workspace_id text not null references workspaces,
  team_id text,
  directive_id text not null references directives,
  position int not null,
  capo text not null,
  engine text not null,
  title text not null,
  kind text not null check (kind in
    ('document', 'message', 'call', 'signal', 'delegation', 'record', 'proposal')),
  action_type text not null,
  target text,
  params jsonb not null,
  reversibility text not null check (reversibility in
    ('read_only', 'reversible', 'externally_reversible', 'irreversible')),
  compensation jsonb,
  status text not null check (status in ('drafted', 'awaiting_approval', 'queued', 'sending', 'executed', 'failed',
    'denied', 'cancelled', 'halted', 'reverted')),
  decision jsonb,
  decision_input jsonb,
  allowed_hash text,
  leverage_score double precision not null,
  multipliers jsonb not null,
  rationale text not null,
  cost jsonb not null default '{"amount":0,"currency":"USD"}',
  result jsonb,
  receipt_id text,
  created_at timestamptz not null,
  executed_at timestamptz,
  sending_since timestamptz,
  due_at timestamptz,
  attempts int not null default 0
);
create index work_packets_newest on work_packets (workspace_id, created_at desc);
create index work_packets_of_directive on work_packets (workspace_id, directive_id, position);
create index work_packets_open on work_packets (workspace_id, status)
  where status in ('awaiting_approval', 'queued', 'sending', 'halted');
create index work_packets_due on work_packets (due_at) where due_at is not null;
create index work_packets_denied on work_packets (workspace_id, created_at) where status = 'denied';
select app.isolate('work_packets', true), app.allow_system_reads('work_packets');
grant select, insert, update on work_packets to consigliere_app;

create table approvals (
  approval_id text primary key,
  workspace_id text not null references workspaces,
  team_id text,
  directive_id text not null references directives,
  capo text,
  kind text not null check (kind in ('output', 'standing_order', 'budget_override')),
  round int not null,
  status text not null check (status in
    ('pending', 'approved', 'rejected', 'changes_requested', 'expired', 'cancelled')),
  ready boolean not null,
  title text not null,
  summary text not null,
  priority text not null,
  risk text not null check (risk in ('low', 'medium', 'high', 'critical')),
  reversibility text not null,
  output jsonb,
  packets jsonb not null default '[]',
  content_hash text,
  policy jsonb,
  requested_by jsonb not null,
  requested_at timestamptz not null,
  expires_at timestamptz not null,
  frozen_ms bigint,
  on_expiry text not null check (on_expiry in ('reject', 'escalate')),
  self_approval boolean not null default true,
  decided_at timestamptz,
  decided_by jsonb,
  decided_via text,
  feedback text,
  receipt_id text
);
create unique index approvals_one_open on approvals (workspace_id, directive_id) where status = 'pending';
create index approvals_pending on approvals (workspace_id, requested_at) where status = 'pending';
create index approvals_newest on approvals (workspace_id, requested_at desc);
create index approvals_expiring on approvals (expires_at) where status = 'pending' and frozen_ms is null;
select app.isolate('approvals', true), app.allow_system_reads('approvals');
grant select, insert, update on approvals to consigliere_app;
`;

const OVERDUE = /* sql */ `
-- The rows that nobody has taken up though their time has come: after a killed process, a lost job or a lost notice.
-- Those that a guardian holds back are left out, so that they cannot crowd out the work of other workspaces.
create function app.overdue_work(p_late interval, p_limit int)
  returns table (task text, workspace_id text, id text)
  language sql stable security definer set search_path = public, pg_temp as $$
  (select case d.stage when 'route' then 'directive.route' else 'directive.draft' end, d.workspace_id, d.directive_id
    from directives d join guardians g using (workspace_id)
    where d.due_at < now() - p_late and g.mode <> 'killed' order by d.due_at limit p_limit)
  union all
  (select 'packet.send', p.workspace_id, p.work_packet_id
    from work_packets p join guardians g using (workspace_id)
    where p.due_at < now() - p_late and g.mode not in ('observe', 'killed', 'recovering')
    order by p.due_at limit p_limit)
  union all
  (select 'approval.expire', a.workspace_id, a.approval_id
    from approvals a where a.status = 'pending' and a.frozen_ms is null and a.expires_at < now() - p_late
    order by a.expires_at limit p_limit)
  union all
  (select 'directive.expire', d.workspace_id, d.directive_id
    from directives d where d.deadline < now() - p_late
      and d.status in ('pending_approval', 'queued', 'executing', 'halted')
    order by d.deadline limit p_limit)
$$;
alter function app.overdue_work owner to consigliere_system;
`;
