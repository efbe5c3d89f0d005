import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Members are mailed about what waits for them (docs/decisions/0020): what each wants to be told of, what each is told, and
 * the links by which they decide. Approvals can be listed by what can be decided together.
 */
export class Notifications1764000000070 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(SETTINGS);
    await queryRunner.query(CHOICES);
    await queryRunner.query(NOTIFICATIONS);
    await queryRunner.query(LINKS);
    await queryRunner.query(GROUPS);
  }

  async down(): Promise<void> {
    throw new Error('what members were told would be lost: restore a backup instead');
  }
}

/** They were free switches that nothing read; those with a meaning by now keep it. */
const SETTINGS = /* sql */ `
alter table workspaces no force row level security;
update workspaces set notifications = jsonb_strip_nulls(jsonb_build_object(
  'approvals', case when notifications->'approvals' = 'false' then 'none' end,
  'escalations', case when notifications->'escalations' = 'false' then 'none' end,
  'reports', case when notifications->'reports' = 'false' then 'none' end))
where notifications <> '{}';
alter table workspaces force row level security;
`;

/** A member's own choice over the settings of the workspace; null: theirs holds. */
const CHOICES = /* sql */ `
create table notification_choices (
  workspace_id text not null references workspaces,
  member_id text not null references members,
  approvals text check (approvals in ('all', 'urgent', 'digest', 'none')),
  escalations text check (escalations in ('all', 'urgent', 'digest', 'none')),
  reports text check (reports in ('all', 'none')),
  quiet_hours jsonb,
  at_any_hour boolean not null,
  primary key (workspace_id, member_id)
);
select app.isolate('notification_choices', false);
grant select, insert, update on notification_choices to consigliere_app;
`;

/** What one member is told of one revision, once. */
const NOTIFICATIONS = /* sql */ `
create table notifications (
  workspace_id text not null references workspaces,
  notification_id text not null,
  member_id text not null references members,
  kind text not null check (kind in ('approval', 'escalation')),
  entity_id text not null,
  revision text not null,
  team_id text,
  urgent boolean not null,
  in_digest boolean not null,
  status text not null check (status in ('waiting', 'sending', 'sent', 'skipped', 'failed')),
  due_at timestamptz not null,
  mail_id text,
  tries int not null,
  reason text,
  created_at timestamptz not null,
  ended_at timestamptz,
  primary key (workspace_id, notification_id),
  unique (workspace_id, member_id, kind, entity_id, revision),
  check ((status in ('waiting', 'sending')) = (ended_at is null)),
  check (status <> 'sending' or mail_id is not null)
);
create index notifications_open on notifications (workspace_id, member_id, due_at)
  where status in ('waiting', 'sending');
create index notifications_sent on notifications (workspace_id, member_id, ended_at) where status = 'sent';
create index notifications_ended on notifications (workspace_id, ended_at) where ended_at is not null;
select app.isolate('notifications', true);
grant select, insert, update on notifications to consigliere_app;
create policy system_lets_go on notifications to consigliere_system using (true);
grant select, update, delete on notifications to consigliere_system;
`;

/** The link itself stands nowhere: it is this row's id with a code over the row, made with the key of the service. */
const LINKS = /* sql */ `
create table decision_links (
  workspace_id text not null references workspaces,
  link_id text not null,
  member_id text not null references members,
  approval_id text not null references approvals,
  content_hash text not null,
  mail_id text not null,
  created_at timestamptz not null,
  used_at timestamptz,
  decision text check (decision in ('approve', 'reject')),
  primary key (workspace_id, link_id),
  unique (workspace_id, mail_id, approval_id),
  check ((used_at is null) = (decision is null))
);
create unique index decision_links_by_id on decision_links (link_id);
create index decision_links_of_approval on decision_links (approval_id);
create index decision_links_oldest on decision_links (workspace_id, created_at);
select app.isolate('decision_links', false);
grant select, insert, update on decision_links to consigliere_app;
create policy system_lets_go on decision_links to consigliere_system using (true);
grant select, update, delete on decision_links to consigliere_system;
`;

const GROUPS = /* sql */ `
alter table approvals add column group_key text;
create index approvals_of_group on approvals (workspace_id, group_key, requested_at, approval_id)
  where status = 'pending' and group_key is not null;
`;
