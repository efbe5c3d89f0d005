import {
  type DecisionOrder,
  nounOf,
  type OrderUsage,
  type RecordedInput,
  type RecordedPacket,
} from './decision-input.js';
import type { BudgetWindow, Effect, OrderBudget, OrderLimits } from './standing-order.js';
import { endOfWindow } from './windows.js';

/** What a limit would be at if the work packet was sent: it holds when `used` is at most `allowed`. */
export interface LimitResult {
  standingOrderId: string;
  limit: keyof OrderLimits | 'budget';
  allowed: number;
  used: number;
  holds: boolean;
  /** Where the work packet only has to wait: when there is room for it again, Unix milliseconds. */
  until?: number;
}

export interface LimitCheck {
  result: LimitResult;
  /** What the order does to the work packet when the limit does not hold. */
  otherwise: Effect;
  /** For a person, to follow the order's name: a broken limit, or a budget near its end. */
  remark: string | null;
}

/** What limits and budgets measure of a work packet. */
type Measured = Pick<RecordedPacket, 'recipients' | 'amount' | 'currency' | 'outside'>;

/** When it is decided; the windows of a day, week and month are those of the zone. */
type Moment = Pick<RecordedInput, 'at' | 'timezone'>;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The hours that a limit looks back over; the others begin anew with a calendar window. */
export const SLIDING_HOURS: Partial<Record<LimitResult['limit'], number>> = { maxPerHour: 1, maxPerDay: 24 };

const UNUSED: OrderUsage = { lastHour: 0, lastDay: 0, amountToday: 0, budgetSpent: 0 };

/**
 * The limits and the budget of an order that allows or throttles; the stricter effects have none. Waiting helps only
 * where the packet by itself would be within the limit; one too large for it asks, else it would wait for ever.
 */
export function checkLimits(
  order: DecisionOrder,
  packet: Measured,
  moment: Moment,
  usage: OrderUsage = UNUSED,
): LimitCheck[] {
  const { at } = moment;
  const limits = order.limits ?? {};

  const check = (
    limit: keyof OrderLimits,
    before: number,
    own: number,
    inWords: (used: number) => string,
    roomAt: () => number,
  ): LimitCheck[] => {
    const allowed = limits[limit];
    if (allowed === null || allowed === undefined) return [];
    const used = sumOf(before, own);
    const holds = used <= allowed;
    const otherwise = order.effect === 'throttle' && own <= allowed ? 'throttle' : 'require_approval';
    const { standingOrderId } = order;
    const checked = {
      result: { standingOrderId, limit, allowed, used, holds },
      otherwise,
      remark: holds ? null : `${inWords(used)} and the limit is ${allowed}`,
    } as const;
    return [delayed(checked, order, at, roomAt)];
  };

  return [
    ...check(
      'maxPerHour',
      usage.lastHour,
      1,
      (used) => `it would be ${nounOf(packet)} ${used} of this hour`,
      () => usage.hourRoomAt ?? at + HOUR_MS,
    ),
    ...check(
      'maxPerDay',
      usage.lastDay,
      1,
      (used) => `it would be ${nounOf(packet)} ${used} of this day`,
      () => usage.dayRoomAt ?? at + DAY_MS,
    ),
    ...check(
      'maxRecipients',
      0,
      packet.recipients,
      (used) => `it has ${used} recipients`,
      () => at,
    ),
    ...check(
      'maxAmountPerDay',
      usage.amountToday,
      amountOf(packet),
      (used) => `it would bring the total of this day to ${used}`,
      () => endOf('day', moment),
    ),
    ...(order.budget ? [checkBudget(order, order.budget, packet, moment, usage.budgetSpent)] : []),
  ];
}

/** Says until when the work packet waits, where it does. There is room, too, when the order ends. */
function delayed(
  check: LimitCheck,
  { expiresAt }: DecisionOrder,
  at: number,
  roomAt: () => number,
): LimitCheck {
  if (check.result.holds || check.otherwise !== 'throttle') return check;
  const until = Math.max(at + 1, Math.min(roomAt(), expiresAt ?? Infinity));
  const remark = `${check.remark}; there is room again at ${new Date(until).toISOString()}`;
  return { ...check, result: { ...check.result, until }, remark };
}

function endOf(window: BudgetWindow, { at, timezone }: Moment): number {
  return endOfWindow(window, at, timezone ?? 'UTC');
}

function checkBudget(
  order: DecisionOrder,
  budget: OrderBudget,
  packet: Measured,
  moment: Moment,
  spent: number,
): LimitCheck {
  const amount = amountOf(packet);
  // No rate of exchange is known here, and a guessed one would be a hole in the budget.
  const foreign = amount > 0 && packet.currency !== budget.currency;
  const used = foreign ? spent : sumOf(spent, amount);
  const holds = !foreign && used <= budget.amount;
  const fits = !foreign && amount <= budget.amount;
  const onExceed = budget.onExceed ?? 'require_approval';
  const whole = `its budget of ${budget.amount} ${budget.currency} for the ${budget.window}`;
  const nearlySpent = isNearlySpent(budget, used);

  let remark: string | null = null;
  if (foreign) remark = `${whole} cannot be compared with an amount in ${packet.currency ?? 'no currency'}`;
  else if (!holds) remark = `${whole} would be exceeded at ${used}`;
  else if (nearlySpent) remark = `${used} of ${whole} would then be used`;

  const { standingOrderId } = order;
  const result: LimitResult = { standingOrderId, limit: 'budget', allowed: budget.amount, used, holds };
  const otherwise = onExceed === 'throttle' && !fits ? 'require_approval' : onExceed;
  const roomAt = () => endOf(budget.window, moment);
  return delayed({ result, otherwise, remark }, order, moment.at, roomAt);
}

/** Whether so much of the budget is used that somebody wanted to be told. */
export function isNearlySpent({ amount, warnPercent }: OrderBudget, used: number): boolean {
  return typeof warnPercent === 'number' && used >= (amount * warnPercent) / 100;
}

/** A refund moves money too: what counts is how much, not which way. */
function amountOf(packet: Measured): number {
  return Math.abs(packet.amount ?? 0);
}

/** To four decimals, the most any currency has: three times 0.1 must not exceed 0.3. */
export function sumOf(a: number, b: number): number {
  return Math.min(Number((a + b).toFixed(4)), Number.MAX_VALUE);
}
