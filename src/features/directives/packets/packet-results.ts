import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/kernel/clock.js';
import { Receipts } from '../../../platform/receipts/receipts.js';
import { backoffMs } from '../../../platform/work/backoff.js';
import { Work } from '../../../platform/work/work.js';
import type { WorkItem } from '../../../platform/work/work-item.js';
import { type Action, type ActionResult, compensationOf } from '../../capos/action-types.js';
import { capoActor } from '../../capos/capo-actor.js';
import { CAPOS } from '../../capos/capo.js';
import type { GuardianEntity } from '../../guardian/guardian.entity.js';
import { PolicyGate } from '../../guardian/policy-gate.js';
import { Signals } from '../../signals/signals.repository.js';
import { CompleteDirective } from '../complete-directive.js';
import { PacketEscalations } from './packet-escalations.js';
import { executedSentence } from './executed-sentence.js';
import { type EffectFailed, isUnconfirmed } from './packet-effect.js';
import { receiptSubject } from './work-packet.js';
import type { PacketResult, WorkPacketEntity } from './work-packet.entity.js';
import { WorkPackets } from './work-packets.repository.js';

const MAX_ATTEMPTS = 5;

/** What comes of a packet that was carried out, or could not be, in the open transaction: status, receipt, work, and its directive. */
@Injectable()
export class PacketResults {
  constructor(
    private readonly clock: Clock,
    private readonly work: Work,
    private readonly packets: WorkPackets,
    private readonly receipts: Receipts,
    private readonly signals: Signals,
    private readonly completeDirective: CompleteDirective,
    private readonly escalations: PacketEscalations,
    private readonly gate: PolicyGate,
  ) {}

  async succeed(
    item: WorkItem,
    packet: WorkPacketEntity,
    action: Action,
    result: ActionResult,
    { epoch }: GuardianEntity,
  ): Promise<void> {
    const receiptId = this.receipts.append({
      ...receiptSubject(packet),
      action: 'packet.executed',
      summary: executedSentence(CAPOS[packet.capo].name, packet.title, action, result),
      details: {
        actionType: packet.actionType,
        target: packet.target,
        attempt: packet.attempts,
        began: beganIn(packet),
        result: withoutAnswer(result),
      },
      guardianEpoch: epoch,
    });
    const { attempts, beganEpoch, beganSeq } = packet;
    const compensation = compensationOf(action, result) ?? packet.compensation;
    const executedAt = this.clock.now();
    this.packets.transition(packet, 'execute', {
      attempts,
      beganEpoch,
      beganSeq,
      result: { ...result },
      compensation,
      receiptId,
      executedAt,
      sendingSince: null,
    });
    this.work.complete(item);
    await this.completeDirective.packetEnded(packet.workspaceId, packet.directiveId);
  }

  /**
   * It did not take effect. What a kill called off has not failed: however often that happens, the packet goes on with the
   * revert.
   */
  async fail(
    item: WorkItem,
    packet: WorkPacketEntity,
    failure: EffectFailed,
    { isKilled, calledOff }: { isKilled: boolean; calledOff: boolean },
  ): Promise<void> {
    const { code, message, retryable, known } = failure;
    const failures = item.failures + 1;
    if (!retryable || (failures >= MAX_ATTEMPTS && !isKilled && !calledOff)) {
      await this.giveUp(packet, failure, isKilled);
      this.work.complete(item);
      return;
    }
    const result = resultOf(failure);
    // Until its next try it stays as one that has left, so that nobody cancels or denies it as if it had not.
    if (isUnconfirmed(failure.code) && !isKilled && !calledOff)
      this.packets.transition(packet, 'send', { result });
    else this.packets.transition(packet, isKilled ? 'kill' : 'retry', { result, sendingSince: null });
    if (isKilled) this.work.park(item);
    else if (calledOff) this.work.reschedule(item, 0);
    else this.work.reschedule(item, Math.max(known.waitMs ?? 0, backoffMs(failures)), { code, message });
  }

  /** A kill has halted it, and it may have left before: a person says whether it arrived. */
  foundHalted(packet: WorkPacketEntity, { message }: EffectFailed): Promise<void> {
    return this.escalations.unconfirmed(packet, message, true);
  }

  /**
   * Ends it as failed, with a signal, since a person has to look; whether it arrived, only a person can find out, if nobody
   * here knows. The work on it is ended by the caller.
   */
  async giveUp(packet: WorkPacketEntity, failure: EffectFailed, isKilled: boolean): Promise<void> {
    const { code, message } = failure;
    // Before the decisions, as whoever decides does.
    await this.packets.lockDirective(packet);
    const mayHaveArrived = isUnconfirmed(code) || isUnconfirmed(packet.result?.error?.code);
    const given = mayHaveArrived ? {} : await this.gate.giveBack([packet.workPacketId]);
    const receiptId = this.receipts.append({
      ...receiptSubject(packet),
      action: 'packet.failed',
      outcome: 'failure',
      summary: `"${packet.title}" was not carried out: ${message}`,
      details: {
        actionType: packet.actionType,
        code,
        attempt: packet.attempts,
        began: beganIn(packet),
        ...given,
      },
    });
    this.packets.transition(packet, 'fail', {
      result: resultOf(failure),
      receiptId,
      sendingSince: null,
    });
    this.signals.raise({
      type: 'agent',
      severity: isUnconfirmed(code) ? 'critical' : 'warning',
      title: `Not carried out: ${packet.title}`,
      body: message,
      score: null,
      source: capoActor(packet.capo),
      teamId: packet.teamId,
      capo: packet.capo,
      entity: { type: 'work_packet', id: packet.workPacketId },
    });
    if (isUnconfirmed(code)) await this.escalations.unconfirmed(packet, message, isKilled);
    await this.completeDirective.packetEnded(packet.workspaceId, packet.directiveId);
  }
}

/** Where in the chain it was last handed out; null for one that never was, or by an earlier version. */
function beganIn({ beganEpoch, beganSeq }: WorkPacketEntity): { epoch: number; seq: number } | null {
  return beganEpoch === null || beganSeq === null ? null : { epoch: beganEpoch, seq: beganSeq };
}

/** Why it did not take effect, with what was answered. */
function resultOf({ code, message, known }: EffectFailed): PacketResult {
  return { ...known.answered, error: { code, message } };
}

/** Receipts are kept for good; the words of others are not for them. */
function withoutAnswer({ answer: _answer, ...result }: ActionResult): ActionResult {
  return result;
}
