import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import type { CheckpointEntity } from './checkpoint.entity.js';
import { ChangeMode } from './change-mode.js';
import { FindCheckpoint } from './find-checkpoint.js';
import type { GuardianEntity } from './guardian.entity.js';
import { Guardians } from './guardians.repository.js';
import { LiftKill } from './lift-kill.js';
import { RestoreSnapshot } from './restore-snapshot.js';
import { newRevert, refuseWhileRecovering, type RevertOutcome, type WantedRevert } from './new-revert.js';
import { Reverts } from './reverts.repository.js';
import { TakeCheckpoint } from './take-checkpoint.js';

/**
 * Puts orders, settings and mode back to a checkpoint (mode `restore`), at once and in one transaction; what it replaces is kept
 * in a checkpoint of its own. A kill is lifted with it; there need not be one.
 */
@Injectable()
export class RestoreCheckpoint {
  constructor(
    private readonly clock: Clock,
    private readonly guardians: Guardians,
    private readonly findCheckpoint: FindCheckpoint,
    private readonly takeCheckpoint: TakeCheckpoint,
    private readonly restoreSnapshot: RestoreSnapshot,
    private readonly liftKill: LiftKill,
    private readonly changeMode: ChangeMode,
    private readonly reverts: Reverts,
    private readonly receipts: Receipts,
  ) {}

  /** @throws NotFound, ValidationFailed without a checkpoint, InvalidTransition while another revert is under way */
  async execute(
    caller: Caller,
    { reason, dryRun, checkpointId: wanted }: WantedRevert,
  ): Promise<RevertOutcome> {
    const { workspaceId } = caller;
    const guardian = await this.guardians.lock(workspaceId);
    refuseWhileRecovering(guardian);
    const checkpoint = await this.findCheckpoint.execute(scopeOf(caller), guardian, wanted);
    const { checkpointId, snapshot } = checkpoint;
    if (!dryRun) await this.takeCheckpoint.execute(actorOf(caller), { before: 'restore' });
    const restored = {
      ...(await this.restoreSnapshot.execute(caller, checkpoint, { dryRun })),
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
      await this.liftKill.execute(workspaceId, snapshot.mode, { at, receiptId });
    } else if (mode !== snapshot.mode) {
      await this.changeMode.execute(caller, snapshot.mode);
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
