import { Injectable } from '@nestjs/common';
import { type Caller, scopeOf, type Tier } from '../../platform/auth/caller.js';
import type { Statement } from '../../platform/database/batch.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { knownZone } from '../../platform/kernel/local-day.js';
import { TIER_LIMITS } from '../../platform/rate-limit/limits.js';
import {
  type ChangeRetention,
  type ProfileDevice,
  retentionOf,
  type SenderView,
  type SettingsView,
  type WorkspaceView,
} from './workspace.dto.js';
import { WorkspaceEntity } from './workspaces.entity.js';
import { type ChangeNotifications, notificationsOf } from './notifications.dto.js';

/** What there is to know of a workspace beside its settings. */
type WorkspaceFacts = Pick<WorkspaceEntity, 'workspaceId' | 'name' | 'tier' | 'isFirst' | 'createdAt'>;

export function workspaceView(facts: WorkspaceFacts): WorkspaceView {
  const limits = TIER_LIMITS[facts.tier];
  return { ...facts, requestsPerMinute: limits?.minute ?? null, requestsPerDay: limits?.day ?? null };
}

/** A member with more has the one that was away for longest forgotten; when it comes back it is known again. */
const DEVICES_OF_A_MEMBER = 20;

@Injectable()
export class Devices {
  constructor(private readonly db: Db) {}

  /** Notes in the open transaction that the caller's client was here. Each member's devices are written by one at a time. */
  async noteSeen({ workspaceId, memberId }: Caller, deviceId: string, at: number): Promise<void> {
    const member = [workspaceId, memberId];
    await this.db.unit.batch([
      {
        text: 'select 1 from members where workspace_id = $1 and member_id = $2 for no key update',
        values: member,
      },
      {
        text: `insert into devices (workspace_id, member_id, device_id, first_seen_at, last_seen_at)
               values ($1, $2, $3, $4, $4)
               on conflict (workspace_id, member_id, device_id)
               do update set last_seen_at = greatest(devices.last_seen_at, excluded.last_seen_at)`,
        values: [...member, deviceId, new Date(at)],
      },
      {
        text: `delete from devices where workspace_id = $1 and member_id = $2 and device_id in (
                 select device_id from devices where workspace_id = $1 and member_id = $2 and device_id <> $3
                 order by last_seen_at desc, device_id offset $4)`,
        values: [...member, deviceId, DEVICES_OF_A_MEMBER - 1],
      },
    ]);
  }

  /** The caller's devices, the one that was here last first. */
  list(caller: Caller): Promise<ProfileDevice[]> {
    return this.db.read<ProfileDevice>(
      scopeOf(caller),
      `select device_id, first_seen_at, last_seen_at from devices where workspace_id = $1 and member_id = $2
       order by last_seen_at desc, device_id`,
      [caller.workspaceId, caller.memberId],
    );
  }
}

/** What work in a workspace depends on. */
export interface WorkspaceSettings extends SettingsView {
  name: string;
  tier: Tier;
}

/** Whether the operator is there to be asked, and in which zone their days begin: UTC where the database has lost the one set. */
export type OperatorHours = Pick<SettingsView, 'presence' | 'timezone'>;

/** When a workspace was made, and in which zone its days begin. */
interface WorkspaceCalendar {
  name: string;
  createdAt: number;
  /** UTC where the database or this program has lost the one that is set. */
  timezone: string;
}

/** What is to be changed: of the sender, of the retention and of the notifications, too, only what is named. */
type SettingsChange = Partial<
  Omit<SettingsView, 'sender' | 'retention' | 'notifications'> & {
    sender: Partial<SenderView>;
    retention: ChangeRetention;
    notifications: ChangeNotifications;
  }
>;

const FACTS = 'workspace_id, name, tier, is_first, created_at';
const SETTINGS = `timezone, locale, currency, presence, quiet_hours, notifications, sender_name, sender_signature,
  sender_reply_to, model_budget, retention, second_factor`;

@Injectable()
export class Workspaces {
  constructor(private readonly db: Db) {}

  /** The workspace that the first start made. */
  async first(): Promise<string | undefined> {
    const [row] = await this.db.system<{ workspaceId: string | null }>(
      'select app.first_workspace() as workspace_id',
    );
    return row!.workspaceId ?? undefined;
  }

  async isThere(workspaceId: string): Promise<boolean> {
    return (
      (await this.db.findOne({ workspaceId, teamIds: 'all' }, WorkspaceEntity, { workspaceId })) !== undefined
    );
  }

  /**
   * How many workspaces there are, in the open transaction; who else asks waits until it has ended.
   * @param lock a number that no other part of the program locks
   */
  async lockedCount(lock: number): Promise<number> {
    const [, [counted]] = (await this.db.unit.batch([
      { text: 'select pg_advisory_xact_lock($1)', values: [lock] },
      { text: 'select app.workspace_count() as count', values: [] },
    ])) as [unknown, { count: number }[]];
    return counted!.count;
  }

  /** The currency in which single numbers are given, as `{ currency }`. */
  currencyStatement(workspaceId: string): Statement {
    return { text: 'select currency from workspaces where workspace_id = $1', values: [workspaceId] };
  }

  /** In one statement, which joins the open transaction if there is one. */
  async settings(scope: Scope): Promise<WorkspaceSettings> {
    const [row] = await this.db.read<WorkspaceSettings>(
      scope,
      `select name, tier, timezone, locale, currency, presence, quiet_hours, notifications, ${senderOf('w')} as sender,
         model_budget, retention, second_factor
       from workspaces w where workspace_id = $1`,
      [scope.workspaceId],
    );
    return asRead(row!);
  }

  /** Whether it is the first workspace of the service; it stays so for good. */
  async isFirst(scope: Scope): Promise<boolean> {
    const [row] = await this.db.read<{ isFirst: boolean }>(
      scope,
      'select is_first from workspaces where workspace_id = $1',
      [scope.workspaceId],
    );
    return row?.isFirst ?? false;
  }

  /** The workspace itself. */
  async facts(scope: Scope): Promise<WorkspaceFacts> {
    const [row] = await this.db.read<WorkspaceFacts>(
      scope,
      `select ${FACTS} from workspaces where workspace_id = $1`,
      [scope.workspaceId],
    );
    return row!;
  }

  /** What its days depend on. */
  async calendar(scope: Scope): Promise<WorkspaceCalendar> {
    const [row] = await this.db.read<WorkspaceCalendar>(
      scope,
      `select name, created_at, app.workspace_zone(workspace_id) as timezone from workspaces where workspace_id = $1`,
      [scope.workspaceId],
    );
    return { ...row!, timezone: knownZone(row!.timezone) };
  }

  /** The workspace itself, locked against changes; whatever only names it goes on. */
  async lock(workspaceId: string): Promise<WorkspaceFacts> {
    const [row] = await this.db.query<WorkspaceFacts>(
      `select ${FACTS} from workspaces where workspace_id = $1 for no key update`,
      [workspaceId],
    );
    return row!;
  }

  rename(workspaceId: string, name: string): void {
    this.db.update(WorkspaceEntity, { workspaceId }, { name });
  }

  /** Answers {@link OperatorHours}; for a caller that sends it along with statements of its own. */
  operatorHoursStatement(workspaceId: string): Statement {
    return {
      text: 'select presence, app.workspace_zone(workspace_id) as timezone from workspaces where workspace_id = $1',
      values: [workspaceId],
    };
  }

  /** The tier, which nobody else changes until the open transaction has ended. */
  async lockTier(workspaceId: string): Promise<Tier> {
    const [row] = await this.db.query<{ tier: Tier }>(
      'select tier from workspaces where workspace_id = $1 for no key update',
      [workspaceId],
    );
    return row!.tier;
  }

  /** Takes effect as soon as callers are looked up again, within half a second in every process. */
  changeTier(workspaceId: string, tier: Tier): void {
    this.db.update(WorkspaceEntity, { workspaceId }, { tier });
  }

  /** Whether the database knows this zone, in the open transaction. */
  async knowsZone(zone: string): Promise<boolean> {
    const [row] = await this.db.query<{ known: boolean }>('select app.zone_or_utc($1) = $1 as known', [zone]);
    return row!.known;
  }

  /** Sets what `changes` names, and answers the settings before and after. */
  async change(
    workspaceId: string,
    changes: SettingsChange,
  ): Promise<{ before: SettingsView; after: SettingsView }> {
    const [row] = await this.db.query<{ before: SettingsView; after: SettingsView }>(
      `update workspaces w set
         timezone = coalesce($2::jsonb->>'timezone', before.timezone),
         locale = coalesce($2::jsonb->>'locale', before.locale),
         currency = coalesce($2::jsonb->>'currency', before.currency),
         presence = coalesce($2::jsonb->>'presence', before.presence),
         quiet_hours = case when $2::jsonb ? 'quietHours' then nullif($2::jsonb->'quietHours', 'null') else before.quiet_hours end,
         notifications = case when $2::jsonb ? 'notifications'
           then jsonb_strip_nulls(before.notifications || ($2::jsonb->'notifications')) else before.notifications end,
         sender_name = ${senderChange('name')},
         sender_signature = ${senderChange('signature')},
         sender_reply_to = ${senderChange('replyTo')},
         model_budget = case when $2::jsonb ? 'modelBudget' then nullif($2::jsonb->'modelBudget', 'null') else before.model_budget end,
         retention = case when $2::jsonb ? 'retention' then jsonb_strip_nulls(before.retention || ($2::jsonb->'retention'))
           else before.retention end,
         second_factor = coalesce($2::jsonb->>'secondFactor', before.second_factor)
       from (select ${SETTINGS} from workspaces where workspace_id = $1 for update) before
       where w.workspace_id = $1
       returning ${settingsOf('before')} as before, ${settingsOf('w')} as after`,
      [workspaceId, JSON.stringify(changes)],
    );
    const { before, after } = row!;
    return { before: asRead(before), after: asRead(after) };
  }
}

function asRead<T extends SettingsView>(row: T): T {
  const { retention, notifications } = row;
  return { ...row, retention: retentionOf({ ...retention }), notifications: notificationsOf(notifications) };
}

/** The settings of one row as JSON, in the names of the wire. */
function settingsOf(row: string): string {
  return `jsonb_build_object('timezone', ${row}.timezone, 'locale', ${row}.locale,
    'currency', ${row}.currency, 'presence', ${row}.presence, 'quietHours', ${row}.quiet_hours, 'notifications', ${row}.notifications,
    'sender', ${senderOf(row)}, 'modelBudget', ${row}.model_budget, 'retention', ${row}.retention,
    'secondFactor', ${row}.second_factor)`;
}

function senderOf(row: string): string {
  return `jsonb_build_object('name', ${row}.sender_name, 'signature', ${row}.sender_signature, 'replyTo', ${row}.sender_reply_to)`;
}

const SENDER_COLUMNS: Record<keyof SenderView, string> = {
  name: 'sender_name',
  signature: 'sender_signature',
  replyTo: 'sender_reply_to',
};

/** What the change names is set, to null too; the rest of the sender stays. */
function senderChange(property: keyof SenderView): string {
  return `case when $2::jsonb->'sender' ? '${property}' then $2::jsonb->'sender'->>'${property}' else before.${SENDER_COLUMNS[property]} end`;
}
