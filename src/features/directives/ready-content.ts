import type { ApprovalPacket } from '../approvals/approval.entity.js';
import { approvedHash, DEFAULT_EXPIRY_MS } from '../approvals/approval.js';
import type { ReadyContent } from '../approvals/approvals.repository.js';
import { highestReversibility, riskOf } from '../capos/action-types.js';
import type { PolicyDecision } from '../guardian/policy-gate.js';
import { EFFECTS } from '../standing-orders/standing-order.js';
import { type Priority, type Risk, RISKS } from '../terms/terms.js';
import { contentHash, recipientsOf } from './packets/work-packet.js';
import type { WorkPacketEntity } from './packets/work-packet.entity.js';
import type { DirectiveEntity } from './directive.entity.js';

/** What a person is shown to decide on: each work packet with its complete parameters, the risk, and why they are asked. */
export function readyContent(
  { capo, output, priority }: Pick<DirectiveEntity, 'capo' | 'output' | 'priority'>,
  packets: readonly WorkPacketEntity[],
  policy: readonly PolicyDecision[],
  now: number,
): ReadyContent {
  const shown = packets.map(shownPacket);
  const decisions = policy.map(({ decision }) => decision);
  const terms = decisions.map(({ approval }) => approval);
  const strictest = EFFECTS.findLast((effect) => decisions.some(({ outcome }) => outcome === effect));
  return {
    capo,
    summary: output?.summary ?? '',
    risk: highestRisk(packets, priority),
    reversibility: highestReversibility(packets.map((packet) => packet.reversibility)),
    output,
    packets: shown,
    contentHash: approvedHash(output, shown),
    policy: {
      outcome: strictest ?? 'require_approval',
      explanation: [...new Set(decisions.flatMap(({ explanation }) => explanation))],
    },
    expiresAt: now + Math.min(DEFAULT_EXPIRY_MS, ...terms.map((term) => term.expiresInMinutes * 60_000)),
    onExpiry: terms.some((term) => term.onExpiry === 'escalate') ? 'escalate' : 'reject',
    selfApproval: terms.every((term) => term.selfApproval),
  };
}

function shownPacket(packet: WorkPacketEntity): ApprovalPacket {
  return {
    workPacketId: packet.workPacketId,
    title: packet.title,
    action: { type: packet.actionType, target: packet.target, params: packet.params },
    reversibility: packet.reversibility,
    rationale: packet.rationale,
    contentHash: contentHash(packet),
  };
}

function highestRisk(packets: readonly WorkPacketEntity[], priority: Priority): Risk {
  const risks = packets.map(({ reversibility, params }) => {
    const amount = typeof params['amount'] === 'number' ? Math.abs(params['amount']) : 0;
    return riskOf({ reversibility, priority, recipients: recipientsOf({ params }), amount });
  });
  return RISKS.findLast((risk) => risks.includes(risk)) ?? 'low';
}
