import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import {
  type DecisionInput,
  type DecidedPacket,
  type OrderUsage,
  storable,
} from '../standing-orders/decision-input.js';
import { type Decision, evaluate } from '../standing-orders/evaluate.js';
import { orderOf } from '../standing-orders/known-orders.js';
import {
  type FormerUse,
  type OrderInForce,
  type OrderWithUsage,
  StandingOrders,
} from '../standing-orders/standing-orders.repository.js';
import type { Presence } from '../standing-orders/standing-order.js';
import { Workspaces } from '../workspaces/workspaces.repository.js';
import type { GuardianEntity } from './guardian.entity.js';
import { letsNothingLeave } from './guardian.js';

/** A decision with everything it depended on, so that it can be computed again. */
export interface PolicyDecision {
  decision: Decision;
  input: DecisionInput;
}

/** Who let a work packet go: the standing orders alone, or a person who read it. */
export type AllowedBy = 'policy' | 'person';

/**
 * What becomes of an allowed work packet that is about to leave. `wait`: the guardian's mode lets nothing leave, so it
 * stays as it is. `review`: a person has to be asked, for the reasons of the decision. `deny`: it ends.
 */
export type Recheck =
  { verdict: 'go' } | { verdict: 'wait' } | { verdict: 'review' | 'deny'; policy: PolicyDecision };

/** Whom a decision may ask. */
interface Asked {
  presence: Presence;
}

/** What a decision depends on besides the orders and the packet. */
interface Situation {
  at: number;
  guardian: Pick<GuardianEntity, 'mode' | 'epoch'>;
  presence: Presence;
}

/** Where the guardian decides whether a packet may be sent: standing orders, limits, budgets and its mode. */
@Injectable()
export class PolicyGate {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly orders: StandingOrders,
    private readonly workspaces: Workspaces,
  ) {}

  /**
   * Decides `packets` in their order, within the open transaction; what one packet uses up of a limit counts for the
   * next. Decisions of one workspace wait for each other, so two of them cannot share the last unit of a limit.
   * Nothing is used up yet: {@link use} records the packets that then really go by these decisions.
   */
  async decide(
    packets: readonly DecidedPacket[],
    { guardian }: { guardian: GuardianEntity },
  ): Promise<PolicyDecision[]> {
    const at = this.clock.now();
    const { unit } = this.db;
    const { workspaceId } = unit.scope;
    const [[{ presence }], , orders] = (await unit.batch([
      this.workspaces.presenceStatement(workspaceId),
      ...this.orders.inForceStatements(workspaceId, at),
    ])) as [[Asked], unknown, OrderWithUsage[]];
    return packets.map((packet) => {
      const decided = decideBy(orders, packet, { at, guardian, presence });
      if (decided.decision.outcome === 'allow') for (const use of usesOf(decided)) count(orders, use);
      return decided;
    });
  }

  /** Records that the packet is sent by this decision: every order that matched counts it. */
  use(decided: PolicyDecision): void {
    for (const use of usesOf(decided)) this.orders.recordUse(use);
  }

  /**
   * Whether an allowed packet may still go, asked in the transaction that claims it for sending: between the decision
   * and that moment an order may have ended, another begun, or the mode changed. What the standing orders allowed is
   * decided again in full, apart from what it used up of their limits itself. What a person approved is checked against
   * the orders that deny and the mode alone: the person was asked, so no order has to allow it. One round trip.
   */
  async recheck(
    packet: DecidedPacket & { workPacketId: string },
    { guardian, allowedBy }: { guardian: GuardianEntity; allowedBy: AllowedBy },
  ): Promise<Recheck> {
    if (letsNothingLeave(guardian.mode)) return { verdict: 'wait' };
    return allowedBy === 'person'
      ? this.recheckApproved(packet, guardian)
      : this.recheckAllowed(packet, guardian);
  }

  private async recheckApproved(packet: DecidedPacket, guardian: GuardianEntity): Promise<Recheck> {
    const at = this.clock.now();
    const { unit } = this.db;
    const { workspaceId } = unit.scope;
    const [[{ presence }], orders] = (await unit.batch([
      this.workspaces.presenceStatement(workspaceId),
      this.orders.denyingStatement(workspaceId, at),
    ])) as [[Asked], OrderInForce[]];
    const unused = orders.map((order) => ({ ...order, usage: UNUSED }));
    const policy = decideBy(unused, packet, { at, guardian, presence });
    return policy.decision.outcome === 'deny' ? { verdict: 'deny', policy } : { verdict: 'go' };
  }

  private async recheckAllowed(
    packet: DecidedPacket & { workPacketId: string },
    guardian: GuardianEntity,
  ): Promise<Recheck> {
    const at = this.clock.now();
    const { unit } = this.db;
    const { workspaceId } = unit.scope;
    const [[{ presence }], , orders, former] = (await unit.batch([
      this.workspaces.presenceStatement(workspaceId),
      ...this.orders.inForceStatements(workspaceId, at),
      this.orders.formerUsesStatement(workspaceId, packet.workPacketId, at),
    ])) as [[Asked], unknown, OrderWithUsage[], FormerUse[]];
    for (const use of former) discount(orders, use);
    const policy = decideBy(orders, packet, { at, guardian, presence });
    const { outcome } = policy.decision;
    if (outcome === 'deny') return { verdict: 'deny', policy };
    if (outcome !== 'allow') return { verdict: 'review', policy };
    this.useAgain(policy, former);
    return { verdict: 'go' };
  }

  /** What an order counted before it does not count twice, but in the window in which the packet leaves. */
  private useAgain(policy: PolicyDecision, former: readonly FormerUse[]): void {
    for (const use of usesOf(policy)) {
      const before = former.find(({ standingOrderId }) => standingOrderId === use.standingOrderId);
      if (!before) this.orders.recordUse(use);
      else if (!countsStill(before)) this.orders.renewUse(use);
    }
  }
}

type Use = Parameters<StandingOrders['recordUse']>[0];

const UNUSED: OrderWithUsage['usage'] = { lastHour: 0, lastDay: 0, budgetSpent: 0, amountsToday: {} };

/** Another team's orders are no part of a decision: they say nothing about it, and its team must not read of them. */
function decideBy(
  orders: readonly OrderWithUsage[],
  packet: DecidedPacket,
  { at, guardian, presence }: Situation,
): PolicyDecision {
  const own = orders.filter(({ teamId }) => teamId === null || teamId === packet.teamId);
  const input = storable({
    at,
    presence,
    guardian: { mode: guardian.mode, epoch: guardian.epoch },
    packet,
    orders: own.map(orderOf),
    usage: Object.fromEntries(own.map((order) => [order.standingOrderId, usageOf(order, packet)])),
  });
  return { decision: evaluate(input), input };
}

function usesOf({ decision, input: { at, packet, orders } }: PolicyDecision): Use[] {
  const { currency } = packet;
  const amount = Math.abs(packet.amount ?? 0);
  return decision.matched.map(({ standingOrderId }) => {
    const { budget } = orders.find((order) => order.standingOrderId === standingOrderId)!;
    const spent = currency !== null && budget?.currency === currency ? amount : 0;
    return { standingOrderId, workPacketId: packet.workPacketId!, at, amount, currency, spent };
  });
}

function count(orders: readonly OrderWithUsage[], { standingOrderId, amount, currency, spent }: Use): void {
  const { usage } = orders.find((order) => order.standingOrderId === standingOrderId)!;
  usage.lastHour++;
  usage.lastDay++;
  usage.budgetSpent += spent;
  if (currency !== null) usage.amountsToday[currency] = (usage.amountsToday[currency] ?? 0) + amount;
}

/** Takes a former use of the packet itself out of what its order has let through. */
function discount(orders: readonly OrderWithUsage[], former: FormerUse): void {
  const usage = orders.find((order) => order.standingOrderId === former.standingOrderId)?.usage;
  if (!usage) return;
  const { amount, currency, spent, inHour, inDay, today, inBudgetWindow } = former;
  if (inHour) usage.lastHour--;
  if (inDay) usage.lastDay--;
  if (inBudgetWindow) usage.budgetSpent = less(usage.budgetSpent, spent);
  if (today && currency !== null) {
    usage.amountsToday[currency] = less(usage.amountsToday[currency] ?? 0, amount);
  }
}

/** To four decimals, the most any currency has. */
function less(sum: number, amount: number): number {
  return Math.max(0, Number((sum - amount).toFixed(4)));
}

function countsStill({ inHour, inDay, today, inBudgetWindow }: FormerUse): boolean {
  return inHour && inDay && today && inBudgetWindow;
}

function usageOf({ usage }: OrderWithUsage, { currency }: DecidedPacket): OrderUsage {
  const { lastHour, lastDay, budgetSpent, amountsToday } = usage;
  return { lastHour, lastDay, budgetSpent, amountToday: (currency !== null && amountsToday[currency]) || 0 };
}
