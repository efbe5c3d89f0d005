import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { type Caller, actorOf, hasRole, scopeOf } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { RestoreOrders } from '../standing-orders/index.js';
import {
  WorkspaceService,
  type ChangeSettingsBody,
  OWNER_SETTINGS,
  RETENTION_DAYS,
  type SettingsView,
  Workspaces,
  notificationsOf,
  retentionOf,
} from '../workspaces/index.js';
import type { CheckpointEntity, GuardianEntity, Snapshot } from './guardian.entity.js';
import { CheckpointService } from './checkpoint.service.js';
import { GuardianService } from './guardian.service.js';
import { Guardians } from './guardians.repository.js';
import { newRevert, PLAN_LINES, requireRevertible, type RevertOutcome, type WantedRevert } from './revert.js';
import { RevertProgress } from './revert-progress.js';
import type { RestoredView } from './revert.dto.js';
import { Reverts } from './reverts.repository.js';

/**
 * Puts orders, settings and mode back to a checkpoint (mode `restore`), at once and in one transaction; what it replaces is kept
 * in a checkpoint of its own. A kill is lifted with it; there need not be one.
 */
@Injectable()
export class RestoreCheckpoint {
  constructor(
    private readonly clock: Clock,
    private readonly guardians: Guardians,
    private readonly guardian: GuardianService,
    private readonly checkpoints: CheckpointService,
    private readonly restoreOrders: RestoreOrders,
    private readonly workspaces: Workspaces,
    private readonly workspaceService: WorkspaceService,
    private readonly progress: RevertProgress,
    private readonly reverts: Reverts,
    private readonly receipts: Receipts,
  ) {}

  /** @throws NotFound, ValidationFailed without a checkpoint, InvalidTransition while another revert is under way */
  async execute(caller: Caller, wanted: WantedRevert): Promise<RevertOutcome> {
    const { workspaceId } = caller;
    const { reason, dryRun } = wanted;
    const guardian = await this.guardians.lock(workspaceId);
    requireRevertible(guardian, wanted);
    const checkpoint = await this.checkpoints.toGoBackTo(scopeOf(caller), guardian, wanted.checkpointId);
    const { checkpointId, snapshot } = checkpoint;
    if (!dryRun) await this.checkpoints.take(actorOf(caller), { before: 'restore' });
    const restored = {
      ...(await this.restoreSnapshot(caller, checkpoint, { dryRun })),
      mode: snapshot.mode,
    };
    const answer = { mode: 'restore', checkpointId, planTotal: 0, restored } as const;
    if (dryRun) return { ...answer, status: 'planned', plan: [], revertId: null, receiptId: null };
    const revertId = newId('rvt');
    const receiptId = await this.adoptMode(caller, guardian, checkpoint, { revertId, reason });
    this.receipts.append({
      receiptId,
      actor: actorOf(caller),
      action: guardian.mode === 'killed' ? 'guardian.reverted' : 'guardian.restored',
      entity: { type: 'revert', id: revertId },
      summary: summaryOf(caller.name, guardian, checkpoint),
      details: {
        reason,
        mode: 'restore',
        checkpointId,
        checkpointHash: checkpoint.hash,
        killedAt: guardian.killedAt,
        guardianMode: restored.mode,
        settings: restored.settings,
        settingsKept: restored.settingsKept,
        // Each order that changes has a receipt of its own.
        orders: restored.ordersTotal,
      },
      guardianEpoch: guardian.epoch,
    });
    return { ...answer, status: 'done', plan: [], revertId, receiptId };
  }

  /** The mode of the checkpoint, whether or not a kill has to be lifted for it. Answers the id of the receipt. */
  private async adoptMode(
    caller: Caller,
    { mode, killedAt, epoch }: GuardianEntity,
    { checkpointId, snapshot }: CheckpointEntity,
    { revertId, reason }: { revertId: string; reason: string | null },
  ): Promise<string> {
    const { workspaceId } = caller;
    const at = this.clock.now();
    const receiptId = newId('rcp');
    if (mode === 'killed') {
      await this.progress.liftKill(workspaceId, snapshot.mode, { at, receiptId });
    } else if (mode !== snapshot.mode) {
      await this.guardian.setMode(caller, snapshot.mode);
    }
    this.reverts.add(
      newRevert({
        revertId,
        workspaceId,
        mode: 'restore',
        reason,
        receiptId,
        by: actorOf(caller),
        at,
        checkpointId,
        killedAt,
        guardianEpoch: mode === 'killed' ? epoch : null,
      }),
    );
    return receiptId;
  }

  /**
   * Puts standing orders and settings back; what only an owner may loosen stays as it is for anybody else. With `dryRun` it only answers what would be changed.
   */
  private async restoreSnapshot(
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
      await this.workspaceService.changeSettings(caller, settingsOf(snapshot, settings));
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

function summaryOf(
  name: string,
  { mode }: GuardianEntity,
  { label, checkpointId, snapshot }: CheckpointEntity,
): string {
  const checkpoint = `the checkpoint ${label === null ? checkpointId : `"${label}"`}`;
  return mode === 'killed'
    ? `${name} reverted the kill switch and put orders and settings back to ${checkpoint}; the guardian is in the mode ${snapshot.mode}.`
    : `${name} put orders, settings and mode back to ${checkpoint}.`;
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
