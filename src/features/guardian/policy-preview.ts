import { Injectable } from '@nestjs/common';
import type { DecidedPacket } from '../standing-orders/index.js';
import type { GuardianEntity } from './guardian.entity.js';
import { decideInOrder, type PolicyDecision } from './policy-decision.js';
import { PolicyFacts } from './policy-facts.js';
import { NOBODY_WAITS, ThrottleRoom, type WaitingAhead } from './throttle-room.js';

export interface PreviewedPolicy {
  guardian: GuardianEntity;
  /** One for each work packet. */
  decisions: PolicyDecision[];
}

/** What the gate would decide now: its own decisions, by the same functions from the same facts. */
@Injectable()
export class PolicyPreview {
  constructor(
    private readonly facts: PolicyFacts,
    private readonly room: ThrottleRoom,
  ) {}

  /**
   * Decides `packets` in their order; what one takes of a limit counts for the next, and so does what waits for room already.
   * Nothing is recorded or counted.
   */
  async of(
    workspaceId: string,
    packets: readonly DecidedPacket[],
    waitingAhead: WaitingAhead = NOBODY_WAITS,
  ): Promise<PreviewedPolicy> {
    const { guardian, situation } = await this.facts.look(workspaceId, packets);
    const scope = { workspaceId, teamIds: 'all' } as const;
    const decisions = await decideInOrder(packets, situation, (decided, before) =>
      this.room.decideWhen(scope, decided, waitingAhead, before),
    );
    return { guardian, decisions };
  }
}
