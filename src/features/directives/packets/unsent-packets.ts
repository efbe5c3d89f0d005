import { Injectable } from '@nestjs/common';
import { SYSTEM } from '../../../platform/auth/caller.js';
import { Clock } from '../../../platform/kernel/clock.js';
import { newId } from '../../../platform/kernel/ids.js';
import { Receipts } from '../../../platform/receipts/receipts.js';
import type { WorkError, WorkItem } from '../../../platform/work/work-item.js';
import { type Delay, Work } from '../../../platform/work/work.js';
import { RequestApproval } from '../../approvals/index.js';
import { capoActor } from '../../capos/index.js';
import {
  decisionsInReceipt,
  GUARDIAN,
  type GuardianEntity,
  type PolicyDecision,
  PolicyDenied,
  PolicyGate,
  type Recheck,
} from '../../guardian/index.js';
import { type Decision, THROTTLED } from '../../standing-orders/index.js';
import { CompleteDirective } from '../complete-directive.js';
import { DirectiveTransitions } from '../directive-transitions.js';
import { titleOf } from '../directive.js';
import { Directives } from '../directives.repository.js';
import { authorOf, readyContent } from '../ready-content.js';
import type { DuePacket } from './due-packets.repository.js';
import { PacketEscalations } from './packet-escalations.js';
import type { WorkPacketEntity } from './work-packet.entity.js';
import { receiptSubject } from './work-packet.js';
import { WorkPackets } from './work-packets.repository.js';

/** Why a packet does not leave now: nobody wants it any more, or the guardian says so. */
export type Refusal = { verdict: 'ended'; because: WorkError } | Exclude<Recheck, { verdict: 'go' }>;

/** What a packet keeps of the decision that delays it; nothing of any other. */
export function delayOf({
  throttledUntil,
  limits,
}: Decision): Pick<WorkPacketEntity, 'throttledUntil' | 'throttledBy'> {
  if (throttledUntil === null) return { throttledUntil: null, throttledBy: null };
  const delaying = limits.filter(({ until }) => until !== undefined);
  return { throttledUntil, throttledBy: [...new Set(delaying.map((limit) => limit.standingOrderId))] };
}

/** The work on a packet that is delayed: at that time, or when the deadline of its directive passes before, which ends it. */
export function delayOfWork({ throttledUntil }: Decision, deadline: number | null, now: number): Delay {
  const until = Math.min(throttledUntil!, deadline ?? Infinity);
  const message = `Standing orders delay it until ${new Date(throttledUntil!).toISOString()}.`;
  return { waitMs: Math.max(0, until - now), because: { code: THROTTLED, message } };
}

const ASK_AGAIN_MS = 60_000;

/**
 * Brings packets that standing orders had allowed back to review, when one of them is about to leave and the orders no
 * longer cover it: a person is asked about every packet of the directive that has not left.
 */
@Injectable()
export class RecallPackets {
  constructor(
    private readonly clock: Clock,
    private readonly work: Work,
    private readonly directives: Directives,
    private readonly packets: WorkPackets,
    private readonly transitions: DirectiveTransitions,
    private readonly requestApproval: RequestApproval,
    private readonly gate: PolicyGate,
  ) {}

  /** The packet is locked in the open transaction, and decided by `policy`. */
  async execute(
    item: WorkItem,
    packet: WorkPacketEntity,
    policy: PolicyDecision,
    { epoch }: GuardianEntity,
  ): Promise<void> {
    const { workspaceId, directiveId, workPacketId } = packet;
    const others = (await this.packets.lockQueued(workspaceId, directiveId)).filter(
      (other) => other.workPacketId !== workPacketId,
    );
    const directive = await this.directives.lock(workspaceId, directiveId);
    if (directive?.status !== 'sending') {
      // Packets beside it were recalled while it was under way; it is asked about once those are decided.
      this.work.reschedule(item, ASK_AGAIN_MS);
      return;
    }
    this.packets.transition(packet, 'recall', { decision: policy.decision, sendingSince: null });
    for (const other of others) this.packets.transition(other, 'recall');
    this.work.complete(item);
    this.work.cancel(
      'packet.send',
      others.map((other) => other.workPacketId),
    );

    // What a person lets go counts for no order.
    const given = await this.gate.giveBack(others.map((other) => other.workPacketId));
    const recalled = [packet, ...others].toSorted((a, b) => a.position - b.position);
    const decisions = recalled.map((one) => (one === packet ? policy.decision : one.decision!));
    const approvalId = newId('apr');
    const { teamId, capo, priority, deadline, text } = directive;
    const title = titleOf(text);
    const asked = { approvalId, workspaceId, teamId, directiveId, capo, title, priority, round: 0, deadline };
    const requester = await this.directives.requesterOf(workspaceId, directiveId);
    this.requestApproval.open({ ...asked, ...requester });
    this.requestApproval.makeReady(
      { workspaceId, approvalId, directiveId, title, deadline },
      readyContent(directive, recalled, decisions, { now: this.clock.now() }),
      { author: authorOf(directive.engine), by: capoActor(directive.capo!) },
    );
    this.transitions.apply(
      directive,
      'recall',
      {
        actor: GUARDIAN,
        action: 'directive.recalled',
        summary: `"${title}" needs the approval of a person: the standing orders no longer allow what was about to be sent.`,
        details: {
          approvalId,
          workPacketIds: recalled.map((one) => one.workPacketId),
          decisions: decisionsInReceipt([policy]),
          ...given,
        },
        guardianEpoch: epoch,
      },
      { approvalId },
    );
  }
}

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
