import { Injectable } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';
import {
  type DecidedPacket,
  type DecisionOrder,
  type FormerUse,
  type GivenBack,
  ordersFor,
  PolicyDecisions,
  startOfWindow,
} from '../standing-orders/index.js';
import type { GuardianEntity } from './guardian.entity.js';
import { letsNothingLeave } from './guardian.js';
import { OrderUses } from './order-uses.js';
import {
  decideBy,
  type Decided,
  decideInOrder,
  idOf,
  type PolicyDecision,
  withWarnings,
} from './policy-decision.js';
import { type LockedFacts, type Moment, PolicyFacts } from './policy-facts.js';
import { NOBODY_WAITS, ThrottleRoom, type WaitingAhead } from './throttle-room.js';

interface PreviewedPolicy {
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

/**
 * Who let a work packet go: the standing orders alone, a person who read it, or (`requester`) a person who had asked for
 * it or written a part of it, which is one pair of eyes.
 */
export type AllowedBy = 'policy' | 'person' | 'requester';

/**
 * What becomes of an allowed work packet that is about to leave. `go` by a decision where orders count it by that one, and not, or
 * not any more, by an earlier one. `wait`: the guardian's mode lets nothing leave, so it
 * stays as it is. `throttle`: it is decided again at the time that the decision says. `review`: a person has to be asked,
 * for the reasons of the decision. `deny`: it ends.
 */
export type Recheck =
  | { verdict: 'go'; policy?: PolicyDecision }
  | { verdict: 'wait' }
  | { verdict: 'throttle' | 'review' | 'deny'; policy: PolicyDecision };

const HOUR_MS = 3_600_000;

type Packet = DecidedPacket & { workPacketId: string };

/** Where the guardian decides whether a packet may be sent: standing orders, limits, budgets and its mode. */
@Injectable()
export class PolicyGate {
  constructor(
    private readonly facts: PolicyFacts,
    private readonly decisions: PolicyDecisions,
    private readonly uses: OrderUses,
    private readonly room: ThrottleRoom,
  ) {}

  /**
   * Decides `packets` in their order, within the open transaction, and records the decisions; what one packet uses up of a
   * limit counts for the next. Decisions of one workspace wait for each other, so two of them cannot share the last unit of
   * a limit. Nothing is used up yet: {@link use} records the packets that then really go by these decisions.
   */
  async decide(
    packets: readonly DecidedPacket[],
    {
      guardian,
      facts,
      waitingAhead = NOBODY_WAITS,
    }: { guardian: GuardianEntity; facts?: LockedFacts | undefined; waitingAhead?: WaitingAhead },
  ): Promise<PolicyDecision[]> {
    const situation = { ...(facts ?? (await this.lock(packets))), guardian };
    const scope = wholeWorkspaceOf(guardian);
    const decisions = await decideInOrder(packets, situation, (decided, before) =>
      this.room.decideWhen(scope, decided, waitingAhead, before),
    );
    for (const [index, packet] of packets.entries()) this.record(packet, decisions[index]!);
    return decisions;
  }

  /** What {@link decide} locks and reads first, for a caller that locks the guardian in the same message, in front of it. */
  async lock(packets: readonly DecidedPacket[]): Promise<LockedFacts> {
    return (await this.facts.lock(packets)).facts;
  }

  /** What {@link recheck} reads first, for a caller that locks the guardian in the same message. */
  moment(): Promise<Moment> {
    return this.facts.moment();
  }

  /** Records that the packet is sent by this decision: every order that matched counts it. */
  use(decided: PolicyDecision): void {
    this.uses.record(decided);
  }

  /**
   * Work packets certainly were not sent, and are not on their way any more: what orders counted of them is given back. Answers
   * what the receipt of that has to tell. The open transaction has locked their directive.
   */
  giveBack(workPacketIds: readonly string[]): Promise<{ givenBack?: GivenBack[] }> {
    return this.uses.giveBack(workPacketIds);
  }

  /**
   * Whether an allowed packet may still go, asked in the transaction that claims it for sending: between the decision
   * and that moment an order may have ended, another begun, or the mode changed. What the standing orders allowed is
   * decided again in full, apart from what it used up of their limits itself. What a person approved is checked against
   * the orders that deny and the mode alone: the person was asked, so no order has to allow it; but where that person had
   * asked for it, an order that wants other eyes has it reviewed again. One round trip. A decision that keeps the packet
   * is recorded. What has left in part is checked in the same way as what a person approved, and its uses stay.
   */
  async recheck(
    packet: Packet,
    {
      guardian,
      allowedBy,
      hasLeftInPart = false,
      waitingAhead = NOBODY_WAITS,
      moment,
    }: {
      guardian: GuardianEntity;
      allowedBy: AllowedBy;
      moment?: Moment;
      hasLeftInPart?: boolean;
      waitingAhead?: WaitingAhead;
    },
  ): Promise<Recheck> {
    if (letsNothingLeave(guardian.mode)) return { verdict: 'wait' };
    return allowedBy === 'policy' && !hasLeftInPart
      ? this.recheckAllowed(packet, guardian, waitingAhead)
      : this.recheckApproved(packet, guardian, {
          byRequester: allowedBy === 'requester',
          hasLeftInPart,
          moment: moment ?? (await this.moment()),
        });
  }

  /** Most may go, and of those no limit has to be read; what may not is decided by every order, as its record says. */
  private async recheckApproved(
    packet: Packet,
    guardian: GuardianEntity,
    { byRequester, hasLeftInPart, moment }: { byRequester: boolean; hasLeftInPart: boolean; moment: Moment },
  ): Promise<Recheck> {
    const quick = await this.facts.withoutUsage(guardian, moment);
    const orders = ordersFor(quick.known, packet.teamId, quick.at);
    const binding = orders.filter(
      (order) => order.effect === 'deny' || (byRequester && wantsOtherEyes(order)),
    );
    if (verdictOnApproved(decideBy(binding, packet, quick), byRequester) === 'go') return { verdict: 'go' };
    const { policy, former } = await this.decideAgain(packet, guardian);
    const verdict = verdictOnApproved(policy, byRequester);
    if (verdict === 'go') return { verdict };
    return {
      verdict,
      policy: hasLeftInPart ? { ...policy, givenBack: [] } : await this.keep(packet, policy, former),
    };
  }

  private async recheckAllowed(
    packet: Packet,
    guardian: GuardianEntity,
    waitingAhead: WaitingAhead,
  ): Promise<Recheck> {
    const { policy: decided, situation, former } = await this.decideAgain(packet, guardian);
    const policy = await this.room.decideWhen(wholeWorkspaceOf(guardian), decided, waitingAhead);
    const { outcome } = policy.decision;
    if (outcome === 'allow') {
      if (countsStill(former, policy)) return { verdict: 'go' };
      if (former.length > 0) await this.uses.giveBack([packet.workPacketId]);
      const used = withWarnings(policy, situation);
      this.uses.record(used);
      this.record(packet, policy);
      return { verdict: 'go', policy: used };
    }
    const kept = await this.keep(packet, policy, former);
    return { verdict: outcome === 'require_approval' ? 'review' : outcome, policy: kept };
  }

  /** By every order that is in force now, apart from what the packet has used up of their limits itself. */
  private async decideAgain(packet: Packet, guardian: GuardianEntity) {
    const { facts, former } = await this.facts.lock([packet], packet.workPacketId);
    const { at, known, operator, usages } = facts;
    const situation = { ...facts, guardian };
    const orders = ordersFor(known, packet.teamId, at);
    for (const use of former) {
      const order = orders.find(({ standingOrderId }) => standingOrderId === use.standingOrderId);
      if (order) usages.discount(order, use, { at, timezone: operator.timezone });
    }
    return { policy: decideBy(orders, packet, situation), situation, former };
  }

  /** It is not sent, or not now, so what it has used up is given back. */
  private async keep(packet: Packet, policy: Decided, former: readonly FormerUse[]): Promise<PolicyDecision> {
    if (former.length > 0) await this.uses.giveBack([packet.workPacketId]);
    this.record(packet, policy);
    return { ...policy, givenBack: former.map(idOf) };
  }

  private record(packet: DecidedPacket, { decision, input, orders }: Decided): void {
    this.decisions.add(packet, decision, input, orders);
  }
}

/** Whether the same orders have counted it within the hour and the day in which it leaves, and so in their longer windows. */
function countsStill(former: readonly FormerUse[], { counting, input }: PolicyDecision): boolean {
  const { at, timezone = 'UTC' } = input;
  const since = Math.max(at - HOUR_MS + 1, startOfWindow('day', at, timezone));
  const orders = new Set(former.map(idOf));
  return (
    orders.size === counting.length &&
    counting.every((order) => orders.has(idOf(order))) &&
    former.every((use) => use.at >= since)
  );
}

function wantsOtherEyes({ approval }: DecisionOrder): boolean {
  return approval?.selfApproval === false || (approval?.quorum ?? 1) > 1;
}

function verdictOnApproved({ decision }: PolicyDecision, byRequester: boolean): 'go' | 'review' | 'deny' {
  if (decision.outcome === 'deny') return 'deny';
  return byRequester && !decision.approval.selfApproval ? 'review' : 'go';
}

/** Orders of the whole workspace hold for every team. */
function wholeWorkspaceOf({ workspaceId }: GuardianEntity): Scope {
  return { workspaceId, teamIds: 'all' };
}
