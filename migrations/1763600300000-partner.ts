import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The partner persona service: what it signs with, what it has told, and what that adds up to for each buyer. */
export class Partner1763600300000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(SECRETS);
    await queryRunner.query(UPDATES);
  }

  async down(): Promise<void> {
    throw new Error('this migration holds what the partner has told: restore a backup instead');
  }
}

const SECRETS = /* sql */ `
-- sealed_configured: the value of PARTNER_SIGNING_SECRET that was put in force last. It stays what it is when the secret
-- is rotated otherwise, so that a restart does not bring the old value back.
create table partner_secrets (
  workspace_id text primary key references workspaces,
  sealed_secret text not null,
  sealed_previous text,
  previous_until timestamptz,
  sealed_configured text,
  set_at timestamptz not null,
  check ((sealed_previous is null) = (previous_until is null))
);
select app.isolate('partner_secrets', false), app.allow_system_reads('partner_secrets');
grant select, insert, update on partner_secrets to consigliere_app;

-- What a request for this workspace may be signed with: looked up before the signature says who sends it.
create function app.find_partner_secret(p_workspace_id text)
  returns table (sealed_secret text, sealed_previous text, previous_until timestamptz)
  language sql stable security definer set search_path = public, pg_temp as $$
  select s.sealed_secret, s.sealed_previous, s.previous_until
  from partner_secrets s where s.workspace_id = p_workspace_id
$$;
alter function app.find_partner_secret owner to consigliere_system;

create function app.first_workspace() returns text
  language sql stable security definer set search_path = public, pg_temp as
  'select workspace_id from workspaces order by created_at, workspace_id limit 1';
alter function app.first_workspace owner to consigliere_system;
`;

const UPDATES = /* sql */ `
create table partner_events (
  workspace_id text not null references workspaces,
  partner_event_id text not null,
  content_hash text not null,
  customer_entitlement_id text not null,
  partner_target_id text not null,
  metric text not null check (metric in
    ('problem_clarity', 'solution_fit', 'price_fit', 'urgency', 'authority', 'trust', 'overall')),
  delta double precision not null check (delta between -1 and 1),
  new_confidence double precision not null check (new_confidence between 0 and 1),
  prior_confidence double precision check (prior_confidence between 0 and 1),
  source_service_ref jsonb,
  fired_at timestamptz not null,
  received_at timestamptz not null,
  signal_id text not null,
  constraint partner_events_once primary key (workspace_id, partner_event_id)
);
-- Covers the windows of the trends.
create index partner_events_newest on partner_events (workspace_id, received_at desc) include (metric, delta);
select app.isolate('partner_events', false);
grant select, insert on partner_events to consigliere_app;

-- What all buyers of a workspace add up to. Every context shows it, so it is kept and not counted, and whoever takes an
-- update holds this row: the updates of one workspace follow each other. Sums are exact, so that they cannot drift.
create table personas (
  workspace_id text primary key references workspaces,
  buyers bigint not null default 0,
  confidence_sum numeric not null default 0,
  updates bigint not null,
  last_event_at timestamptz not null
);
select app.isolate('personas', false);
grant select, insert, update on personas to consigliere_app;

create table persona_metrics (
  workspace_id text not null references personas,
  metric text not null,
  buyers bigint not null,
  confidence_sum numeric not null,
  primary key (workspace_id, metric)
);
select app.isolate('persona_metrics', false);
grant select, insert, update on persona_metrics to consigliere_app;

-- A buyer is an entitlement. confidence and top_gap follow from the buyer's metrics.
create table buyers (
  workspace_id text not null references personas,
  buyer_id text not null,
  confidence double precision not null,
  top_gap text,
  updated_at timestamptz not null,
  primary key (workspace_id, buyer_id)
);
create index buyers_newest on buyers (workspace_id, updated_at desc, buyer_id);
select app.isolate('buyers', false);
grant select, insert, update on buyers to consigliere_app;

-- The newest confidence of each metric, by the time it was fired and not by the time it arrived.
create table buyer_metrics (
  workspace_id text not null,
  buyer_id text not null,
  metric text not null,
  confidence double precision not null,
  fired_at timestamptz not null,
  primary key (workspace_id, buyer_id, metric),
  foreign key (workspace_id, buyer_id) references buyers
);
select app.isolate('buyer_metrics', false);
grant select, insert, update on buyer_metrics to consigliere_app;
`;
