import { Injectable } from '@nestjs/common';
import { SYSTEM } from '../../../platform/auth/caller.js';
import { Receipts } from '../../../platform/receipts/receipts.js';
import { Work } from '../../../platform/work/work.js';
import type { WorkError, WorkItem } from '../../../platform/work/work-item.js';
import {
  GUARDIAN,
  type GuardianEntity,
  type PolicyDecision,
  PolicyDenied,
  PolicyGate,
  decisionsInReceipt,
} from '../../guardian/index.js';
import { CompleteDirective } from '../complete-directive.js';
import type { Refusal } from './check-before-sending.js';
import type { DuePacket } from './due-packets.repository.js';
import { PacketEscalations } from './packet-escalations.js';
import { RecallPackets } from './recall-packets.js';
import { delayOf, delayOfWork } from './throttled-packet.js';
import { receiptSubject } from './work-packet.js';
import type { WorkPacketEntity } from './work-packet.entity.js';
import { WorkPackets } from './work-packets.repository.js';

/** What comes of a packet that does not leave, or not now, in the open transaction: status, receipt, work, and its directive. */
@Injectable()
export class UnsentPackets {
  constructor(
    private readonly work: Work,
    private readonly packets: WorkPackets,
    private readonly receipts: Receipts,
    private readonly recallPackets: RecallPackets,
    private readonly completeDirective: CompleteDirective,
    private readonly escalations: PacketEscalations,
    private readonly gate: PolicyGate,
  ) {}

  async execute(
    item: WorkItem,
    packet: DuePacket,
    refusal: Refusal,
    guardian: GuardianEntity,
  ): Promise<void> {
    switch (refusal.verdict) {
      case 'ended':
        return this.cancel(item, packet, refusal.because);
      case 'wait':
        return this.work.park(item);
      case 'throttle':
        return this.throttle(item, packet, refusal.policy);
      case 'review':
        return this.recallPackets.execute(item, packet, refusal.policy, guardian);
      case 'deny':
        return this.deny(item, packet, refusal.policy);
    }
  }

  /** A standing order that came into force after it was allowed denies it. */
  private async deny(item: WorkItem, packet: WorkPacketEntity, policy: PolicyDecision): Promise<void> {
    const { decision, input } = policy;
    const because = decision.explanation.join(' ');
    const receiptId = this.receipts.append({
      ...receiptSubject(packet),
      action: 'packet.denied',
      outcome: 'denied',
      summary: `"${packet.title}" was not sent: ${because}`,
      details: { matched: decision.matched, decisions: decisionsInReceipt([policy]) },
      guardianEpoch: input.guardian.epoch,
    });
    const error = { code: PolicyDenied.code, message: because };
    this.packets.transition(packet, 'deny', {
      decision,
      result: { error },
      receiptId,
      sendingSince: null,
    });
    await this.escalations.overBudget(packet, packet.title, [decision]);
    await this.end(item, packet);
  }

  /** Standing orders delay it: it stays as it is, and is decided again at the time that its decision says. */
  private throttle(item: WorkItem, packet: DuePacket, policy: PolicyDecision): void {
    const { decision, input } = policy;
    const delay = delayOf(decision);
    const until = new Date(decision.throttledUntil!).toISOString();
    this.receipts.append({
      ...receiptSubject(packet),
      actor: GUARDIAN,
      action: 'packet.throttled',
      summary: `"${packet.title}" waits until ${until}: ${decision.explanation[0]}`,
      details: { throttledUntil: decision.throttledUntil, decisions: decisionsInReceipt([policy]) },
      guardianEpoch: input.guardian.epoch,
    });
    this.packets.throttle(packet, { ...delay, decision });
    const { waitMs, because } = delayOfWork(decision, packet.deadline, input.at);
    this.work.reschedule(item, waitMs, because, 0);
  }

  /** It may not leave any more, and nobody has to be asked: its directive has ended, or its deadline passed. */
  private async cancel(item: WorkItem, packet: WorkPacketEntity, error: WorkError): Promise<void> {
    const receiptId = this.receipts.append({
      ...receiptSubject(packet),
      actor: SYSTEM,
      action: 'packet.cancelled',
      summary: `"${packet.title}" was not sent: ${error.message}`,
      details: { code: error.code, ...(await this.gate.giveBack([packet.workPacketId])) },
    });
    this.packets.transition(packet, 'cancel', { result: { error }, receiptId, sendingSince: null });
    await this.end(item, packet);
  }

  private async end(item: WorkItem, { workspaceId, directiveId }: WorkPacketEntity): Promise<void> {
    this.work.complete(item);
    await this.completeDirective.packetEnded(workspaceId, directiveId);
  }
}
