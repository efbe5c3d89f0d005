import { LIMITS } from '../capos/index.js';
import type { BudgetWindow, OrderLimits } from '../standing-orders/index.js';
import type { Breach, Rule } from './rule.js';
import { isSet, listed, type SafetyTarget, some, typesOf } from './safety-target.js';

/** A budget so many times as large as what was ever spent bounds nothing that is likely to go wrong. */
const RUNAWAY_FACTOR = 10;
/** To and Cc of one mail together. */
const MOST_RECIPIENTS = 2 * LIMITS.recipients;
const MOST_DAYS: Record<BudgetWindow, number> = { day: 1, week: 7, month: 31 };

/** Budgets that do not stop anything, and limits that are never met. */
export const BUDGET_RULES: readonly Rule<SafetyTarget>[] = [
  {
    id: 'order.budget_without_hard_stop',
    severity: 'warning',
    reason:
      'A budget that only delays is spent again as soon as its next window begins, without anybody being asked.',
    suggestion: 'Set `budget.onExceed` to `require_approval` or `deny`.',
    check: ({ order: { budget } }) =>
      budget?.onExceed === 'throttle'
        ? [
            {
              path: 'budget.onExceed',
              message: 'Beyond the budget, work packets only wait.',
              evidence: 'throttle',
            },
          ]
        : [],
  },
  {
    id: 'order.budget_without_warning',
    severity: 'info',
    reason: 'Without a warning, the end of a budget is noticed when work stops.',
    suggestion: 'Set `budget.warnPercent`, such as 80.',
    check: ({ order: { budget } }) =>
      budget && !isSet(budget.warnPercent)
        ? [{ path: 'budget.warnPercent', message: 'Nobody is told when the budget is nearly spent.' }]
        : [],
  },
  {
    id: 'order.runaway_budget',
    severity: 'warning',
    reason: 'A budget far above what is spent lets a fault run for long before it stops anything.',
    suggestion: 'Set `budget.amount` near what is really needed; more can be approved once.',
    check: ({ order: { budget }, spent }) => {
      const most = budget ? (spent[budget.currency] ?? 0) : 0;
      if (!budget || most <= 0 || budget.amount <= RUNAWAY_FACTOR * most) return [];
      const times = Math.floor(budget.amount / most);
      const message = `It is ${times} times the most that went out in one ${budget.window}: ${most} ${budget.currency}.`;
      return [{ path: 'budget.amount', message, evidence: `${budget.amount} ${budget.currency}` }];
    },
  },
  {
    id: 'order.budget_never_binds',
    severity: 'warning',
    reason: 'A budget that nothing is ever counted against looks like a safeguard and is none.',
    suggestion: 'Remove the budget, or lower it below what the limits let pass.',
    check: ({ order }) => {
      const { budget, limits } = order;
      if (!budget) return [];
      if (!some(order, 'carriesAmount')) {
        const message = `No work packet of ${listed([...typesOf(order).keys()])} carries an amount.`;
        return [{ path: 'budget', message }];
      }
      const perDay = limits?.maxAmountPerDay ?? Infinity;
      if (budget.amount < perDay * MOST_DAYS[budget.window]) return [];
      const message = `The limit of ${perDay} a day is reached before the budget of ${budget.amount} for the ${budget.window}.`;
      return [{ path: 'budget.amount', message, evidence: budget.amount }];
    },
  },
  {
    id: 'order.limit_never_binds',
    severity: 'info',
    reason: 'A limit that cannot be met looks like a safeguard and is none.',
    suggestion: 'Remove the limit, or lower it below the one that is always met first.',
    check: ({ order }) => (order.limits ? idleLimits(order, order.limits) : []),
  },
];

function idleLimits(order: SafetyTarget['order'], limits: OrderLimits): Breach[] {
  const { maxPerHour, maxPerDay, maxRecipients, maxAmountPerDay } = limits;
  const idle = (limit: keyof OrderLimits, message: string): Breach => ({
    path: `limits.${limit}`,
    message,
    evidence: limits[limit],
  });
  const types = listed([...typesOf(order).keys()]);
  return [
    ...(isSet(maxPerHour) && isSet(maxPerDay) && maxPerHour >= maxPerDay
      ? [idle('maxPerHour', `The limit of ${maxPerDay} a day is met before that of ${maxPerHour} an hour.`)]
      : []),
    ...(isSet(maxPerHour) && isSet(maxPerDay) && maxPerDay >= 24 * maxPerHour
      ? [idle('maxPerDay', `${maxPerHour} an hour never come to more than ${maxPerDay} a day.`)]
      : []),
    ...(isSet(maxRecipients) && !some(order, 'reachesPeople')
      ? [idle('maxRecipients', `No work packet of ${types} names recipients.`)]
      : []),
    ...(isSet(maxRecipients) && some(order, 'reachesPeople') && maxRecipients >= MOST_RECIPIENTS
      ? [idle('maxRecipients', `No work packet has more than ${MOST_RECIPIENTS} recipients.`)]
      : []),
    ...(isSet(maxAmountPerDay) && !some(order, 'carriesAmount')
      ? [idle('maxAmountPerDay', `No work packet of ${types} carries an amount.`)]
      : []),
  ];
}
