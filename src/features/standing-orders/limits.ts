import type { DecisionMove, DecisionOrder, OrderUsage } from './decision-input.js';
import type { Effect, OrderBudget, OrderLimits } from './standing-order.js';

/** Where a limit would stand if the move went through: it holds when `used` is at most `allowed`. */
export interface LimitStanding {
  standingOrderId: string;
  limit: keyof OrderLimits | 'budget';
  allowed: number;
  used: number;
  holds: boolean;
}

export interface LimitCheck {
  standing: LimitStanding;
  /** What the order does to the move when the limit does not hold. */
  otherwise: Effect;
  /** For a person, to follow the order's name: a broken limit, or a budget near its end. */
  remark: string | null;
}

const UNUSED: OrderUsage = { lastHour: 0, lastDay: 0, amountToday: 0, budgetSpent: 0 };

/** The limits and the budget of an order that allows or throttles; the stricter effects have none. */
export function checkLimits(
  order: DecisionOrder,
  move: DecisionMove,
  usage: OrderUsage = UNUSED,
): LimitCheck[] {
  const { maxPerHour, maxPerDay, maxRecipients, maxAmountPerDay } = order.limits ?? {};
  const amount = amountOf(move);
  const amountToday = sum(usage.amountToday, amount);

  const check = (
    limit: keyof OrderLimits,
    allowed: number | null | undefined,
    used: number,
    remark: string,
  ): LimitCheck[] => {
    if (allowed === null || allowed === undefined) return [];
    const holds = used <= allowed;
    return [
      {
        standing: { standingOrderId: order.standingOrderId, limit, allowed, used, holds },
        otherwise: order.effect === 'throttle' ? 'throttle' : 'require_approval',
        remark: holds ? null : `${remark} and the limit is ${allowed}`,
      },
    ];
  };

  const perHour = usage.lastHour + 1;
  const perDay = usage.lastDay + 1;
  return [
    ...check('maxPerHour', maxPerHour, perHour, `it would be move ${perHour} of the hour`),
    ...check('maxPerDay', maxPerDay, perDay, `it would be move ${perDay} of the day`),
    ...check('maxRecipients', maxRecipients, move.recipients, `it has ${move.recipients} recipients`),
    ...check(
      'maxAmountPerDay',
      maxAmountPerDay,
      amountToday,
      `the amount of the day would be ${amountToday}`,
    ),
    ...(order.budget ? [checkBudget(order, order.budget, move, usage.budgetSpent)] : []),
  ];
}

function checkBudget(
  order: DecisionOrder,
  budget: OrderBudget,
  move: DecisionMove,
  spent: number,
): LimitCheck {
  const amount = amountOf(move);
  // No rate of exchange is known here, and a guessed one would be a hole in the budget.
  const foreign = amount > 0 && move.currency !== budget.currency;
  const used = foreign ? spent : sum(spent, amount);
  const holds = !foreign && used <= budget.amount;
  const whole = `its budget of ${budget.amount} ${budget.currency} for the ${budget.window}`;
  const nearlySpent =
    typeof budget.warnPercent === 'number' && used >= (budget.amount * budget.warnPercent) / 100;

  let remark: string | null = null;
  if (foreign) remark = `${whole} cannot be compared with an amount in ${move.currency ?? 'no currency'}`;
  else if (!holds) remark = `${whole} would stand at ${used}`;
  else if (nearlySpent) remark = `${used} of ${whole} would then be used`;

  return {
    standing: {
      standingOrderId: order.standingOrderId,
      limit: 'budget',
      allowed: budget.amount,
      used,
      holds,
    },
    otherwise: budget.onExceed ?? 'require_approval',
    remark,
  };
}

/** A refund moves money too: what counts is how much, not which way. */
function amountOf(move: DecisionMove): number {
  return Math.abs(move.amount ?? 0);
}

/** To four decimals, the most any currency has: three times 0.1 must not exceed 0.3. */
function sum(a: number, b: number): number {
  return Math.min(Number((a + b).toFixed(4)), Number.MAX_VALUE);
}
