import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import type { TakenBefore } from './checkpoint.entity.js';
import { Checkpoints } from './checkpoints.repository.js';

/** The labels of checkpoints that are taken by themselves. */
export const LABELS: Record<TakenBefore, string> = {
  kill: 'Before the kill switch was engaged',
  activation: 'Before a standing order became active',
  restore: 'Before a checkpoint was restored',
  pack_install: 'Before a skill pack was installed',
};

/**
 * Keeps what is in force, so that a revert can go back to it: by hand, or within the act that is about to change it, as the
 * first of its statements. The kill switch takes its own (app.take_checkpoint), in the statement that engages it.
 */
@Injectable()
export class TakeCheckpoint {
  constructor(
    private readonly clock: Clock,
    private readonly checkpoints: Checkpoints,
    private readonly receipts: Receipts,
  ) {}

  /**
   * Answers its id.
   * @throws InvalidTransition when more orders are in force than a checkpoint holds
   */
  async execute(
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
}
