import { Injectable, type OnModuleInit } from '@nestjs/common';
import { actorOf } from '../../../platform/auth/caller.js';
import { Db } from '../../../platform/database/db.js';
import { InvalidTransition } from '../../../platform/kernel/errors.js';
import { Receipts } from '../../../platform/receipts/receipts.js';
import { Work } from '../../../platform/work/work.js';
import {
  COMPENSATION_FAILED,
  DONE_BY_HAND,
  type Decider,
  type EscalationEntity,
  EscalationOptions,
  RETRY,
} from '../../escalations/index.js';
import { haltedIn } from '../../terms/index.js';
import {
  COMPENSATE,
  type GuardianEntity,
  Guardians,
  type OpenStep,
  Reverts,
  letsNothingLeave,
} from '../../guardian/index.js';
import { RevertDirective } from './revert-directive.js';
import { receiptSubject } from './work-packet.js';
import type { WorkPacketEntity } from './work-packet.entity.js';
import { WorkPackets } from './work-packets.repository.js';

interface Locked {
  guardian: GuardianEntity;
  packet: WorkPacketEntity;
}

/**
 * What a person may do about a work packet that a revert could not undo: have it tried again, or say that it was undone by
 * hand. Both are an admin's, as the revert is.
 */
@Injectable()
export class DecideCompensationFailure implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly options: EscalationOptions,
    private readonly guardians: Guardians,
    private readonly reverts: Reverts,
    private readonly packets: WorkPackets,
    private readonly revertDirective: RevertDirective,
    private readonly receipts: Receipts,
  ) {}

  onModuleInit(): void {
    this.options.register(COMPENSATION_FAILED, 'work_packet', {
      lock: (escalation) => this.lock(escalation),
      options: {
        [RETRY]: {
          role: 'admin',
          effect: 'Tries to undo the work packet once more.',
          run: (escalation, by) => this.retry(escalation, by),
        },
        [DONE_BY_HAND]: {
          role: 'admin',
          effect:
            'Records that you have undone the work packet yourself; the service does nothing more about it.',
          run: (escalation, by) => this.doneByHand(escalation, by),
        },
      },
    });
  }

  private async lock({ workspaceId, entityId }: EscalationEntity): Promise<Locked> {
    const [[guardian], , [packet]] = (await this.db.unit.batch([
      this.guardians.lockSharedStatement(workspaceId),
      ...this.packets.lockForUndoStatements(workspaceId, entityId),
    ])) as [[GuardianEntity], unknown, [WorkPacketEntity]];
    return { guardian, packet };
  }

  /** @throws InvalidTransition when it is undone by now, or is being undone */
  private async failedStep(
    { workspaceId, entityId }: EscalationEntity,
    packet: WorkPacketEntity,
  ): Promise<OpenStep> {
    const step = await this.reverts.lockFailedStep(workspaceId, entityId);
    if (step && packet.status === 'executed') return step;
    throw new InvalidTransition({
      message: 'This work packet is undone by now, or is being undone.',
      details: { status: packet.status },
    });
  }

  private async retry(escalation: EscalationEntity, { caller }: Decider): Promise<string> {
    const { guardian, packet } = await this.lock(escalation);
    const step = await this.failedStep(escalation, packet);
    const { mode, epoch } = guardian;
    if (mode !== 'recovering' && letsNothingLeave(mode)) throw haltedIn(mode);
    const summary = `${caller.name} has the undo of "${packet.title}" tried again.`;
    this.receipts.append({
      ...receiptSubject(packet),
      actor: actorOf(caller),
      action: 'packet.revert_retried',
      summary,
      details: { revertId: step.revertId, failed: step.reason },
      guardianEpoch: epoch,
    });
    this.reverts.updateStep(step, {
      status: 'planned',
      reason: null,
      attempts: 0,
      begunAt: null,
      endedAt: null,
      receiptId: null,
    });
    this.work.enqueue(COMPENSATE, { id: packet.workPacketId });
    return summary;
  }

  private async doneByHand(escalation: EscalationEntity, { caller, at, note }: Decider): Promise<string> {
    const { guardian, packet } = await this.lock(escalation);
    const step = await this.failedStep(escalation, packet);
    const by = actorOf(caller);
    const summary = `${caller.name} says that "${packet.title}" was undone by hand.`;
    const receiptId = this.receipts.append({
      ...receiptSubject(packet),
      actor: by,
      action: 'packet.reverted',
      summary,
      details: { revertId: step.revertId, byHand: true, note, undoes: packet.receiptId },
      guardianEpoch: guardian.epoch,
    });
    this.packets.transition(packet, 'revert', { receiptId });
    const result = { undoneByHand: by };
    this.reverts.updateStep(step, { status: 'done', reason: summary, result, receiptId, endedAt: at });
    await this.revertDirective.execute(packet, { ...step, revertedBy: by });
    return summary;
  }
}
