import { Injectable } from '@nestjs/common';
import { type Actor, type Caller, scopeOf } from '../../platform/auth/caller.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { StandingOrders } from '../standing-orders/index.js';
import {
  type GuardianCheckpointOrder,
  type GuardianCheckpointSummary,
  GuardianCheckpointView,
} from './guardian.dto.js';
import type { CheckpointEntity, GuardianEntity, TakenBefore } from './guardian.entity.js';
import { Checkpoints, type ListedCheckpoint } from './checkpoints.repository.js';

/** The labels of checkpoints that are taken by themselves. */
export const LABELS: Record<TakenBefore, string> = {
  kill: 'Before the kill switch was engaged',
  activation: 'Before a standing order became active',
  restore: 'Before a checkpoint was restored',
  pack_install: 'Before a skill pack was installed',
};

/** What a revert can go back to. */
@Injectable()
export class CheckpointService {
  constructor(
    private readonly clock: Clock,
    private readonly checkpoints: Checkpoints,
    private readonly orders: StandingOrders,
    private readonly receipts: Receipts,
  ) {}

  /**
   * Keeps what is in force, so that a revert can go back to it: by hand, or within the act that is about to change it, as the
   * first of its statements. The kill switch takes its own (app.take_checkpoint), in the statement that engages it. Answers its id.
   * @throws InvalidTransition when more orders are in force than a checkpoint holds
   */
  async take(
    by: Actor,
    { label = null, before = null }: { label?: string | null; before?: TakenBefore | null },
  ): Promise<string> {
    const checkpointId = newId('chk');
    const shown = before === null ? label : LABELS[before];
    const { receiptSeq, hash } = await this.checkpoints.take({
      checkpointId,
      label: shown,
      takenBefore: before,
      by,
      at: this.clock.now(),
    });
    this.receipts.append({
      actor: by,
      action: 'guardian.checkpointed',
      entity: { type: 'checkpoint', id: checkpointId },
      summary:
        before === null
          ? `${by.name} took a checkpoint${label === null ? '.' : `: ${label}`}`
          : `A checkpoint was taken: ${shown}.`,
      details: { label: shown, auto: before !== null, receiptSeq, hash },
    });
    return checkpointId;
  }

  /**
   * The checkpoint that a revert goes back to: the named one; while killed, the last one before the kill; else the newest.
   * @throws NotFound, or ValidationFailed when there is none to go back to
   */
  async toGoBackTo(
    scope: Scope,
    { mode, killedAt, killCheckpointId }: Pick<GuardianEntity, 'mode' | 'killedAt' | 'killCheckpointId'>,
    checkpointId: string | undefined,
  ): Promise<CheckpointEntity> {
    if (checkpointId !== undefined) return this.checkpoints.get(scope, checkpointId);
    const checkpoint =
      mode === 'killed'
        ? await this.checkpoints.newestBeforeKill(scope, { checkpointId: killCheckpointId, at: killedAt! })
        : await this.checkpoints.newest(scope);
    if (!checkpoint) throw thereIsNone();
    return checkpoint;
  }

  /**
   * One checkpoint with what it holds of what the caller may see.
   * @throws NotFound
   */
  async read(caller: Caller, checkpointId: string): Promise<GuardianCheckpointView> {
    const scope = scopeOf(caller);
    const checkpoint = await this.checkpoints.get(scope, checkpointId);
    const { orders } = checkpoint.snapshot;
    const visible = await this.orders.visible(
      scope,
      orders.map(({ standingOrderId }) => standingOrderId),
    );
    return viewOf(
      checkpoint,
      orders.filter(({ standingOrderId }) => visible.has(standingOrderId)),
    );
  }
}

export function summaryOf(checkpoint: ListedCheckpoint): GuardianCheckpointSummary {
  return {
    checkpointId: checkpoint.checkpointId,
    label: checkpoint.label,
    createdAt: checkpoint.createdAt,
    createdBy: checkpoint.createdBy,
    auto: checkpoint.takenBefore !== null,
    receiptSeq: checkpoint.receiptSeq,
    receiptHash: checkpoint.receiptHash,
    hash: checkpoint.hash,
  };
}

/** `orders` are those of the snapshot that the reader may see. */
function viewOf(checkpoint: CheckpointEntity, orders: GuardianCheckpointOrder[]): GuardianCheckpointView {
  const { mode, settings } = checkpoint.snapshot;
  return { ...summaryOf(checkpoint), snapshot: { mode, orders, settings } };
}

function thereIsNone() {
  const message =
    'there is no checkpoint to go back to; name one in checkpointId, or take one before the next change';
  return new ValidationFailed({ details: [{ path: 'checkpointId', rule: 'isThere', message }] });
}
