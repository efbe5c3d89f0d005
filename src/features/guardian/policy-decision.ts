import {
  type DecidedPacket,
  type Decision,
  type DecisionOrder,
  type KnownOrders,
  type RecordedInput,
  type Usages,
  evaluateAgain,
  ordersFor,
  recorded,
  useOf,
} from '../standing-orders/index.js';
import type { OperatorHours } from '../workspaces/index.js';
import type { GuardianEntity } from './guardian.entity.js';
import { type BudgetWarning, budgetWarnings } from './order-uses.js';

/** A decision with what it depended on, so that it can be made again. */
export interface PolicyDecision {
  decision: Decision;
  input: RecordedInput;
  /** The orders that count the work packet if it goes: those that matched, and those that are only tried out. */
  counting: readonly DecisionOrder[];
  /** The budgets that are nearly spent if it goes. */
  warnings: readonly BudgetWarning[];
  /** The orders whose counters have to be settled before it is counted. */
  unsettled: readonly string[];
  /** The orders that counted it by its former decision, and do not any more since this one keeps it from being sent. */
  givenBack?: readonly string[];
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

/** What the work packets of the same draft take of an order before the one that is decided. */
export interface TakenByDraft {
  /** They go, so each is the newest use of the order. */
  gone: number;
  /** They wait, too. */
  waiting: number;
}

/**
 * Decides work packets in their order; what one takes of a limit counts for the next.
 * @param decideWhen says until when a decision lets its work packet wait, if it does
 */
export async function decideInOrder(
  packets: readonly DecidedPacket[],
  situation: Situation,
  decideWhen: (decided: Decided, before: ReadonlyMap<string, TakenByDraft>) => Promise<Decided>,
): Promise<Decided[]> {
  const before = new Map<string, TakenByDraft>();
  const decisions: Decided[] = [];
  for (const packet of packets) {
    const orders = ordersFor(situation.known, packet.teamId, situation.at);
    const decided = await decideWhen(decideBy(orders, packet, situation), before);
    decisions.push(withWarnings(decided, situation));
    take(decided, packet, situation, before);
  }
  return decisions;
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
  return {
    decision,
    input,
    orders,
    counting: orders.filter((order) => ids.has(idOf(order))),
    warnings: [],
    unsettled: [],
  };
}

export function idOf({ standingOrderId }: { standingOrderId: string }): string {
  return standingOrderId;
}

/** With what follows once the work packet has gone by this decision. */
export function withWarnings(decided: Decided, { usages }: Situation): Decided {
  const { decision, counting } = decided;
  if (decision.outcome !== 'allow') return decided;
  const ids = new Set(usages.unsettled);
  const unsettled = counting.map(idOf).filter((id) => ids.has(id));
  return { ...decided, unsettled, warnings: budgetWarnings(decision, counting, usages) };
}

/** What the packet takes of the limits counts for those of its draft that are decided after it. */
function take(
  { decision, counting }: Decided,
  packet: DecidedPacket,
  { at, usages }: Situation,
  before: Map<string, TakenByDraft>,
): void {
  const isGone = decision.outcome === 'allow';
  if (isGone) for (const order of counting) usages.add(order, useOf(packet, at));
  if (!isGone && decision.outcome !== 'throttle') return;
  for (const { standingOrderId } of counting) {
    const { gone, waiting } = before.get(standingOrderId) ?? { gone: 0, waiting: 0 };
    before.set(standingOrderId, { gone: gone + Number(isGone), waiting: waiting + Number(!isGone) });
  }
}

/** A decision as the receipt of the act tells it: enough to make it again. */
export interface DecisionInReceipt {
  workPacketId: string | null;
  outcome: Decision['outcome'];
  inputHash: string;
  input: RecordedInput;
  /** Whose time it was made at; earlier versions of the program went by that of a process. */
  clock: 'database';
  /** The orders that do not count it any more, now that it is not sent. */
  givenBack?: readonly string[];
}

export function decisionsInReceipt(
  policy: readonly { decision: Decision; input: RecordedInput; givenBack?: readonly string[] }[],
): DecisionInReceipt[] {
  return policy.map(({ decision: { outcome, inputHash }, input, givenBack = [] }) => ({
    workPacketId: input.packet.workPacketId,
    outcome,
    inputHash,
    input,
    clock: 'database',
    ...(givenBack.length > 0 && { givenBack }),
  }));
}
