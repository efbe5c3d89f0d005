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
import { type OrderWithUsage, StandingOrders } from '../standing-orders/standing-orders.repository.js';
import type { GuardianEntity } from './guardian.entity.js';

/** A decision with everything it depended on, so that it can be computed again. */
export interface PolicyDecision {
  decision: Decision;
  input: DecisionInput;
}

export interface PolicySituation {
  guardian: GuardianEntity;
  presence: 'present' | 'away';
  /** IANA zone in which days, weeks and months of limits and budgets begin. */
  timezone: string;
}

/** Where the guardian decides whether a packet may go out: standing orders, limits, budgets and its mode. */
@Injectable()
export class PolicyGate {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly orders: StandingOrders,
  ) {}

  /**
   * Decides `packets` in their order, within the open transaction; what one packet uses up of a limit counts for the
   * next. Decisions of one workspace wait for each other, so two of them cannot share the last place of a limit.
   * Nothing is used up yet: {@link use} records the packets that then really go by these decisions.
   */
  async decide(
    packets: readonly DecidedPacket[],
    { guardian, presence, timezone }: PolicySituation,
  ): Promise<PolicyDecision[]> {
    const at = this.clock.now();
    const orders = await this.orders.activeWithUsage(this.db.unit.scope.workspaceId, timezone, at);
    return packets.map((packet) => {
      const input = storable({
        at,
        presence,
        guardian: { mode: guardian.mode, epoch: guardian.epoch },
        packet,
        orders: orders.map(({ usage: _usage, ...order }) => order),
        usage: Object.fromEntries(orders.map((order) => [order.standingOrderId, usageOf(order, packet)])),
      });
      const decision = evaluate(input);
      const decided = { decision, input };
      if (decision.outcome === 'allow') for (const use of usesOf(decided)) count(orders, use);
      return decided;
    });
  }

  /** Records that the packet goes out by this decision: every order that matched counts it. */
  use(decided: PolicyDecision): void {
    for (const use of usesOf(decided)) this.orders.recordUse(use);
  }
}

type Use = Parameters<StandingOrders['recordUse']>[0];

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

function usageOf({ usage }: OrderWithUsage, { currency }: DecidedPacket): OrderUsage {
  const { lastHour, lastDay, budgetSpent, amountsToday } = usage;
  return { lastHour, lastDay, budgetSpent, amountToday: (currency !== null && amountsToday[currency]) || 0 };
}
