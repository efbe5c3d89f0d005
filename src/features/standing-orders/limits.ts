import type { DecisionOrder, OrderUsage, RecordedPacket } from './decision-input.js';
import type { Effect, OrderBudget, OrderLimits } from './standing-order.js';

/** What a limit would be at if the work packet was sent: it holds when `used` is at most `allowed`. */
export interface LimitResult {
  standingOrderId: string;
  limit: keyof OrderLimits | 'budget';
  allowed: number;
  used: number;
  holds: boolean;
}

export interface LimitCheck {
  result: LimitResult;
  /** What the order does to the work packet when the limit does not hold. */
  otherwise: Effect;
  /** For a person, to follow the order's name: a broken limit, or a budget near its end. */
  remark: string | null;
}

/** What limits and budgets measure of a work packet. */
type Measured = Pick<RecordedPacket, 'recipients' | 'amount' | 'currency'>;

const UNUSED: OrderUsage = { lastHour: 0, lastDay: 0, amountToday: 0, budgetSpent: 0 };

/**
 * The limits and the budget of an order that allows or throttles; the stricter effects have none. Waiting helps only
 * where the packet by itself would be within the limit; one too large for it asks, else it would wait for ever.
 */
export function checkLimits(
  order: DecisionOrder,
  packet: Measured,
  usage: OrderUsage = UNUSED,
): LimitCheck[] {
  const limits = order.limits ?? {};

  const check = (
    limit: keyof OrderLimits,
    before: number,
    own: number,
    inWords: (used: number) => string,
  ): LimitCheck[] => {
    const allowed = limits[limit];
    if (allowed === null || allowed === undefined) return [];
    const used = sum(before, own);
    const holds = used <= allowed;
    return [
      {
        result: { standingOrderId: order.standingOrderId, limit, allowed, used, holds },
        otherwise: order.effect === 'throttle' && own <= allowed ? 'throttle' : 'require_approval',
        remark: holds ? null : `${inWords(used)} and the limit is ${allowed}`,
      },
    ];
  };

  return [
    ...check('maxPerHour', usage.lastHour, 1, (used) => `it would be work packet ${used} of this hour`),
    ...check('maxPerDay', usage.lastDay, 1, (used) => `it would be work packet ${used} of this day`),
    ...check('maxRecipients', 0, packet.recipients, (used) => `it has ${used} recipients`),
    ...check(
      'maxAmountPerDay',
      usage.amountToday,
      amountOf(packet),
      (used) => `it would bring the total of this day to ${used}`,
    ),
    ...(order.budget ? [checkBudget(order, order.budget, packet, usage.budgetSpent)] : []),
  ];
}

function checkBudget(order: DecisionOrder, budget: OrderBudget, packet: Measured, spent: number): LimitCheck {
  const amount = amountOf(packet);
  // No rate of exchange is known here, and a guessed one would be a hole in the budget.
  const foreign = amount > 0 && packet.currency !== budget.currency;
  const used = foreign ? spent : sum(spent, amount);
  const holds = !foreign && used <= budget.amount;
  const fits = !foreign && amount <= budget.amount;
  const onExceed = budget.onExceed ?? 'require_approval';
  const whole = `its budget of ${budget.amount} ${budget.currency} for the ${budget.window}`;
  const nearlySpent =
    typeof budget.warnPercent === 'number' && used >= (budget.amount * budget.warnPercent) / 100;

  let remark: string | null = null;
  if (foreign) remark = `${whole} cannot be compared with an amount in ${packet.currency ?? 'no currency'}`;
  else if (!holds) remark = `${whole} would be exceeded at ${used}`;
  else if (nearlySpent) remark = `${used} of ${whole} would then be used`;

  return {
    result: {
      standingOrderId: order.standingOrderId,
      limit: 'budget',
      allowed: budget.amount,
      used,
      holds,
    },
    otherwise: onExceed === 'throttle' && !fits ? 'require_approval' : onExceed,
    remark,
  };
}

/** A refund moves money too: what counts is how much, not which way. */
function amountOf(packet: Measured): number {
  return Math.abs(packet.amount ?? 0);
}

/** To four decimals, the most any currency has: three times 0.1 must not exceed 0.3. */
function sum(a: number, b: number): number {
  return Math.min(Number((a + b).toFixed(4)), Number.MAX_VALUE);
}
