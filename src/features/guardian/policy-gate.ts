import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import {
  type DecidedPacket,
  type DecisionOrder,
  isLimited,
  policyOf,
  type RecordedInput,
  recorded,
} from '../standing-orders/decision-input.js';
import { type Decision, evaluateAgain, mayConcern } from '../standing-orders/evaluate.js';
import { type KnownOrders, OrdersInForce, ordersFor } from '../standing-orders/orders-in-force.js';
import { Policies } from '../standing-orders/policies.repository.js';
import { PolicyDecisions } from '../standing-orders/policy-decisions.repository.js';
import {
  type FormerUse,
  StandingOrders,
  type UsageOfOrder,
} from '../standing-orders/standing-orders.repository.js';
import type { Presence } from '../standing-orders/standing-order.js';
import { Usages, usesOf } from '../standing-orders/usages.js';
import { Workspaces } from '../workspaces/workspaces.repository.js';
import type { GuardianEntity } from './guardian.entity.js';
import { letsNothingLeave } from './guardian.js';

/** A decision with what it depended on, so that it can be made again. */
export interface PolicyDecision {
  decision: Decision;
  input: RecordedInput;
  /** The orders that matched. */
  matched: readonly DecisionOrder[];
}

/** Who let a work packet go: the standing orders alone, or a person who read it. */
export type AllowedBy = 'policy' | 'person';

/**
 * What becomes of an allowed work packet that is about to leave. `wait`: the guardian's mode lets nothing leave, so it
 * stays as it is. `review`: a person has to be asked, for the reasons of the decision. `deny`: it ends.
 */
export type Recheck =
  { verdict: 'go' } | { verdict: 'wait' } | { verdict: 'review' | 'deny'; policy: PolicyDecision };

type Packet = DecidedPacket & { workPacketId: string };

/** What a decision depends on besides the work packet. */
export interface Situation {
  at: number;
  guardian: Pick<GuardianEntity, 'mode' | 'epoch'>;
  presence: Presence;
  known: KnownOrders;
  usages: Usages;
}

/** Where the guardian decides whether a packet may be sent: standing orders, limits, budgets and its mode. */
@Injectable()
export class PolicyGate {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly orders: StandingOrders,
    private readonly inForce: OrdersInForce,
    private readonly policies: Policies,
    private readonly decisions: PolicyDecisions,
    private readonly workspaces: Workspaces,
  ) {}

  /**
   * Decides `packets` in their order, within the open transaction, and records the decisions; what one packet uses up of a
   * limit counts for the next. Decisions of one workspace wait for each other, so two of them cannot share the last unit of
   * a limit. Nothing is used up yet: {@link use} records the packets that then really go by these decisions.
   */
  async decide(
    packets: readonly DecidedPacket[],
    { guardian }: { guardian: GuardianEntity },
  ): Promise<PolicyDecision[]> {
    const { situation } = await this.read(packets, guardian);
    return packets.map((packet) => {
      const decided = decideBy(ordersFor(situation.known, packet.teamId, situation.at), packet, situation);
      this.record(packet, decided);
      if (decided.decision.outcome === 'allow') {
        for (const use of usesOf(decided.matched, packet, situation.at)) situation.usages.add(use);
      }
      return decided;
    });
  }

  /** Records that the packet is sent by this decision: every order that matched counts it. */
  use({ matched, input: { packet, at } }: PolicyDecision): void {
    for (const use of usesOf(matched, packet, at)) this.orders.recordUse(use);
  }

  /**
   * Whether an allowed packet may still go, asked in the transaction that claims it for sending: between the decision
   * and that moment an order may have ended, another begun, or the mode changed. What the standing orders allowed is
   * decided again in full, apart from what it used up of their limits itself. What a person approved is checked against
   * the orders that deny and the mode alone: the person was asked, so no order has to allow it. One round trip. A decision
   * that keeps the packet is recorded.
   */
  async recheck(
    packet: Packet,
    { guardian, allowedBy }: { guardian: GuardianEntity; allowedBy: AllowedBy },
  ): Promise<Recheck> {
    if (letsNothingLeave(guardian.mode)) return { verdict: 'wait' };
    return allowedBy === 'person'
      ? this.recheckApproved(packet, guardian)
      : this.recheckAllowed(packet, guardian);
  }

  private async recheckApproved(packet: Packet, guardian: GuardianEntity): Promise<Recheck> {
    const at = this.clock.now();
    const { unit } = this.db;
    const { workspaceId } = unit.scope;
    const [[{ presence }], [{ epoch }]] = (await unit.batch([
      this.workspaces.presenceStatement(workspaceId),
      this.inForce.epochStatement(workspaceId),
    ])) as [[{ presence: Presence }], [{ epoch: number }]];
    const before = this.inForce.known(workspaceId);
    const known = before.epoch === epoch ? before : await this.inForce.read(workspaceId);
    const denying = ordersFor(known, packet.teamId, at).filter(({ effect }) => effect === 'deny');
    const policy = decideBy(denying, packet, { at, guardian, presence, known, usages: new Usages([]) });
    if (policy.decision.outcome !== 'deny') return { verdict: 'go' };
    this.record(packet, policy);
    return { verdict: 'deny', policy };
  }

  private async recheckAllowed(packet: Packet, guardian: GuardianEntity): Promise<Recheck> {
    const { situation, former } = await this.read([packet], guardian, packet.workPacketId);
    for (const use of former) situation.usages.discount(use);
    const policy = decideBy(ordersFor(situation.known, packet.teamId, situation.at), packet, situation);
    if (policy.decision.outcome === 'allow') {
      this.useAgain(policy, former);
      return { verdict: 'go' };
    }
    this.record(packet, policy);
    return { verdict: policy.decision.outcome === 'deny' ? 'deny' : 'review', policy };
  }

  /**
   * Locks the workspace's decisions and reads what they depend on, in one round trip unless an order has changed since the
   * last decision. With `sent`, also what this work packet has used up by an earlier decision.
   */
  private async read(
    packets: readonly DecidedPacket[],
    guardian: GuardianEntity,
    sent?: string,
  ): Promise<{ situation: Situation; former: FormerUse[] }> {
    const at = this.clock.now();
    const { unit } = this.db;
    const { workspaceId } = unit.scope;
    const askFor = ({ orders }: KnownOrders) => {
      const concerned = orders.filter((order) => packets.some((packet) => mayConcern(order, packet)));
      const limited = concerned.filter(isLimited);
      return [
        this.orders.usageStatement(workspaceId, limited.map(idOf), at),
        ...(sent === undefined
          ? []
          : [this.orders.formerUsesStatement(workspaceId, concerned.map(idOf), sent, at)]),
      ];
    };
    let known = this.inForce.known(workspaceId);
    const [, [{ presence }], [{ epoch }], ...first] = (await unit.batch([
      this.orders.lockDecisionsStatement(workspaceId),
      this.workspaces.presenceStatement(workspaceId),
      this.inForce.epochStatement(workspaceId),
      ...askFor(known),
    ])) as [unknown, [{ presence: Presence }], [{ epoch: number }], UsageOfOrder[], FormerUse[]?];
    let [usage, former = []] = first;
    if (known.epoch !== epoch) {
      known = await this.inForce.read(workspaceId);
      [usage, former = []] = (await unit.batch(askFor(known))) as [UsageOfOrder[], FormerUse[]?];
    }
    return { situation: { at, guardian, presence, known, usages: new Usages(usage) }, former };
  }

  private record(packet: DecidedPacket, { decision, input, orders }: Decided): void {
    this.policies.add(policyOf(orders));
    this.decisions.add(packet, decision, input);
  }

  /** What an order counted before it does not count twice, but in the window in which the packet leaves. */
  private useAgain({ matched, input: { packet, at } }: PolicyDecision, former: readonly FormerUse[]): void {
    for (const use of usesOf(matched, packet, at)) {
      const before = former.find(({ standingOrderId }) => standingOrderId === use.standingOrderId);
      if (!before) this.orders.recordUse(use);
      else if (!countsStill(before)) this.orders.renewUse(use);
    }
  }
}

/** With the orders that it was made by. */
export interface Decided extends PolicyDecision {
  orders: readonly DecisionOrder[];
}

/** Decides one work packet in a situation; changes nothing. */
export function decideBy(
  orders: readonly DecisionOrder[],
  packet: DecidedPacket,
  { at, guardian: { mode, epoch }, presence, usages }: Situation,
): Decided {
  const usage = usages.in(packet.currency);
  const input = recorded({ at, presence, guardian: { mode, epoch }, packet, orders, usage });
  const decision = evaluateAgain(input, orders);
  const ids = new Set(decision.matched.map(idOf));
  return { decision, input, orders, matched: orders.filter((order) => ids.has(idOf(order))) };
}

function idOf({ standingOrderId }: { standingOrderId: string }): string {
  return standingOrderId;
}

function countsStill({ inHour, inDay, today, inBudgetWindow }: FormerUse): boolean {
  return inHour && inDay && today && inBudgetWindow;
}
