import { Injectable } from '@nestjs/common';
import type { DecidedPacket } from '../standing-orders/decision-input.js';
import { ordersFor } from '../standing-orders/orders-in-force.js';
import { usesOf } from '../standing-orders/usages.js';
import type { GuardianEntity } from './guardian.entity.js';
import { decideBy, type PolicyDecision } from './policy-decision.js';
import { PolicyFacts } from './policy-facts.js';

export interface PreviewedPolicy {
  guardian: GuardianEntity;
  /** One for each work packet. */
  decisions: PolicyDecision[];
}

/** What the gate would decide now: its own decisions, by the same function from the same facts. */
@Injectable()
export class PolicyPreview {
  constructor(private readonly facts: PolicyFacts) {}

  /** Decides `packets` in their order; what one uses up of a limit counts for the next. Nothing is recorded or counted. */
  async of(workspaceId: string, packets: readonly DecidedPacket[]): Promise<PreviewedPolicy> {
    const { guardian, situation } = await this.facts.look(workspaceId, packets);
    const { at, known, usages } = situation;
    const decisions = packets.map((packet) => {
      const decided = decideBy(ordersFor(known, packet.teamId, at), packet, situation);
      if (decided.decision.outcome === 'allow') {
        for (const use of usesOf(decided.counting, packet, at)) usages.add(use);
      }
      return decided;
    });
    return { guardian, decisions };
  }
}
