import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/kernel/clock.js';
import { newId } from '../../../platform/kernel/ids.js';
import { Work } from '../../../platform/work/work.js';
import type { WorkItem } from '../../../platform/work/work-item.js';
import { RequestApproval } from '../../approvals/index.js';
import { capoActor } from '../../capos/index.js';
import {
  GUARDIAN,
  type GuardianEntity,
  type PolicyDecision,
  PolicyGate,
  decisionsInReceipt,
} from '../../guardian/index.js';
import { titleOf } from '../directive.js';
import { DirectiveTransitions } from '../directive-transitions.js';
import { Directives } from '../directives.repository.js';
import { authorOf, readyContent } from '../ready-content.js';
import type { WorkPacketEntity } from './work-packet.entity.js';
import { WorkPackets } from './work-packets.repository.js';

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
