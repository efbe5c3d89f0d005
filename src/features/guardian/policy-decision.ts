import {
  type DecidedPacket,
  type DecisionOrder,
  type RecordedInput,
  recorded,
} from '../standing-orders/decision-input.js';
import { type Decision, evaluateAgain } from '../standing-orders/evaluate.js';
import type { KnownOrders } from '../standing-orders/orders-in-force.js';
import type { Usages } from '../standing-orders/usages.js';
import type { OperatorHours } from '../workspaces/workspaces.repository.js';
import type { GuardianEntity } from './guardian.entity.js';
import type { BudgetWarning } from './order-uses.js';

/** A decision with what it depended on, so that it can be made again. */
export interface PolicyDecision {
  decision: Decision;
  input: RecordedInput;
  /** The orders that count the work packet if it goes: those that matched, and those that are only tried out. */
  counting: readonly DecisionOrder[];
  /** The budgets that are nearly spent if it goes. */
  warnings: readonly BudgetWarning[];
}

/** With the orders that it was made by. */
export interface Decided extends PolicyDecision {
  orders: readonly DecisionOrder[];
}

/** What a decision depends on besides the work packet. */
export interface Situation {
  at: number;
  guardian: Pick<GuardianEntity, 'mode' | 'epoch'>;
  operator: OperatorHours;
  known: KnownOrders;
  usages: Usages;
}

/** Decides one work packet in a situation; changes nothing. */
export function decideBy(
  orders: readonly DecisionOrder[],
  packet: DecidedPacket,
  { at, guardian: { mode, epoch }, operator: { presence, timezone }, usages }: Situation,
): Decided {
  const usage = usages.in(packet.currency);
  const input = recorded({ at, timezone, presence, guardian: { mode, epoch }, packet, orders, usage });
  const decision = evaluateAgain(input, orders);
  const ids = new Set([...decision.matched, ...decision.shadow].map(idOf));
  return { decision, input, orders, counting: orders.filter((order) => ids.has(idOf(order))), warnings: [] };
}

export function idOf({ standingOrderId }: { standingOrderId: string }): string {
  return standingOrderId;
}
