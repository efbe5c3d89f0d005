import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, hasRole, scopeOf } from '../../platform/auth/caller.js';
import { RestoreOrders } from '../standing-orders/index.js';
import {
  ChangeSettings,
  type ChangeSettingsBody,
  OWNER_SETTINGS,
  RETENTION_DAYS,
  type SettingsView,
  Workspaces,
  notificationsOf,
  retentionOf,
} from '../workspaces/index.js';
import type { CheckpointEntity, Snapshot } from './checkpoint.entity.js';
import type { RestoredView } from './revert.dto.js';
import { PLAN_LINES } from './new-revert.js';

/** Puts standing orders and settings back to a checkpoint; what only an owner may loosen stays as it is for anybody else. */
@Injectable()
export class RestoreSnapshot {
  constructor(
    private readonly restoreOrders: RestoreOrders,
    private readonly workspaces: Workspaces,
    private readonly changeSettings: ChangeSettings,
  ) {}

  /** In the open transaction, which sees the whole workspace. With `dryRun` it only answers what would be changed. */
  async execute(
    caller: Caller,
    { checkpointId, snapshot }: CheckpointEntity,
    { dryRun }: { dryRun: boolean },
  ): Promise<Omit<RestoredView, 'mode'>> {
    const isOwner = hasRole(caller.role, 'owner');
    const by = actorOf(caller);
    const orders = await this.restoreOrders.execute({
      checkpointId,
      orders: snapshot.orders,
      by,
      isOwner,
      dryRun,
    });
    const now = await this.workspaces.settings(scopeOf(caller));
    const differ = differing(now, snapshot);
    const settings = differ.filter((name) => isOwner || !isOwners(name));
    if (!dryRun && settings.length > 0) {
      await this.changeSettings.execute(caller, settingsOf(snapshot, settings));
    }
    const shown = orders.slice(0, PLAN_LINES);
    return {
      orders: shown,
      ordersTotal: orders.length,
      settings,
      settingsKept: differ.filter((name) => !settings.includes(name)),
    };
  }
}

function isOwners(setting: string): boolean {
  return OWNER_SETTINGS.some((name) => name === setting);
}

/** The settings that were others then; one that the checkpoint does not know stays as it is. */
function differing(now: SettingsView, { settings }: Snapshot): string[] {
  const was: Record<string, unknown> = {
    ...settings,
    retention: retentionOf({ ...(settings['retention'] as object) }),
    notifications: notificationsOf(settings['notifications'] as object),
  };
  return Object.keys(was).filter(
    (name) => Object.hasOwn(now, name) && !isDeepStrictEqual(now[name as keyof SettingsView], was[name]),
  );
}

function settingsOf({ settings }: Snapshot, names: readonly string[]): ChangeSettingsBody {
  const was: Record<string, unknown> = {
    ...settings,
    retention: { ...defaults(RETENTION_DAYS), ...(settings['retention'] as object) },
    notifications: { ...defaults(notificationsOf({})), ...(settings['notifications'] as object) },
  };
  // What the checkpoint holds was accepted as such a change when it was made.
  return Object.fromEntries(names.map((name) => [name, was[name]])) as ChangeSettingsBody;
}

/** A change that sets every member of a setting to its default. */
function defaults(setting: object): Record<string, null> {
  return Object.fromEntries(Object.keys(setting).map((member) => [member, null]));
}
