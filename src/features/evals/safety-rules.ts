import { canonicalJson } from '../../platform/kernel/canonical-json.js';
import { LIMITS } from '../capos/index.js';
import {
  type BudgetWindow,
  type FieldCondition,
  isWithin,
  type OrderLimits,
  type StandingOrderRule,
  strictness,
} from '../standing-orders/index.js';
import type { Breach, Rule } from './rule.js';
import {
  allows,
  type AssessedOrder,
  BLAST_RADIUS_RULES,
  irreversibleOf,
  isSet,
  listed,
  type SafetyTarget,
  some,
  typesOf,
} from './safety-blast-radius.js';

/** A budget so many times as large as what was ever spent bounds nothing that is likely to go wrong. */
const RUNAWAY_FACTOR = 10;
/** To and Cc of one mail together. */
const MOST_RECIPIENTS = 2 * LIMITS.recipients;
const MOST_DAYS: Record<BudgetWindow, number> = { day: 1, week: 7, month: 31 };

/** Budgets that do not stop anything, and limits that are never met. */
const BUDGET_RULES: readonly Rule<SafetyTarget>[] = [
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

/** As the risk of a work packet counts an audience (`riskOf`). */
const LARGE_AUDIENCE = 50;
/** What was drafted a week ago may not be true any more. */
const LONG_WAIT_MINUTES = 7 * 24 * 60;

/** Where a person should be asked, and is not. */
const GATE_RULES: readonly Rule<SafetyTarget>[] = [
  {
    id: 'order.large_audience',
    severity: 'warning',
    reason: 'A mistake in one mail to a hundred people is a hundred mistakes.',
    suggestion: `Set \`limits.maxRecipients\` to ${LARGE_AUDIENCE} or less; a larger mail then asks.`,
    check: ({ order }) => {
      const most = order.limits?.maxRecipients ?? null;
      if (!allows(order) || !some(order, 'reachesPeople') || (most !== null && most <= LARGE_AUDIENCE))
        return [];
      const message =
        most === null
          ? 'A work packet may go to any number of people without an approval.'
          : `A work packet may go to ${most} people without an approval.`;
      return [{ path: 'limits.maxRecipients', message, evidence: most }];
    },
  },
  {
    id: 'order.unbounded_amount',
    severity: 'warning',
    reason: 'Money then moves without an approval, however much it is.',
    suggestion:
      'Set `limits.maxAmountPerDay` or a `budget`, or a condition such as `"amount": { "$lte": 500 }`.',
    check: ({ order }) => {
      const { limits, budget, match } = order;
      const isBound =
        isSet(limits?.maxAmountPerDay) || budget !== null || amountConditions(match.fields ?? {});
      if (!allows(order) || !some(order, 'carriesAmount') || isBound) return [];
      return [{ path: 'limits.maxAmountPerDay', message: 'Nothing bounds the amount that it allows.' }];
    },
  },
  {
    id: 'order.self_approval',
    severity: 'info',
    reason: 'A member can then request an irreversible act and approve it alone.',
    suggestion: 'Set `approval.selfApproval` to false.',
    check: ({ order }) => {
      const asks = order.effect === 'require_approval' || order.approval !== null;
      const needsOthers = order.approval?.selfApproval === false || (order.approval?.quorum ?? 1) > 1;
      if (!asks || needsOthers || irreversibleOf(order).length === 0) return [];
      const message = 'The member who asks may also approve.';
      return [{ path: 'approval.selfApproval', message, evidence: order.approval?.selfApproval ?? null }];
    },
  },
  {
    id: 'order.stale_approval',
    severity: 'info',
    reason: 'A draft that is more than a week old may be outdated when it is approved.',
    suggestion: 'Set `approval.expiresInMinutes` to 10080 or less.',
    check: ({ order }) => {
      const minutes = order.approval?.expiresInMinutes ?? 0;
      if (minutes <= LONG_WAIT_MINUTES || irreversibleOf(order).length === 0) return [];
      const message = `An approval stays open for ${Math.round(minutes / 1_440)} days.`;
      return [{ path: 'approval.expiresInMinutes', message, evidence: minutes }];
    },
  },
];

/** Whether a condition gives the amount an upper end. */
function amountConditions(fields: Readonly<Record<string, FieldCondition>>): boolean {
  return Object.entries(fields).some(
    ([path, { $lt, $lte, $eq, $in }]) =>
      (path === 'amount' || path === 'params.amount') &&
      [$lt, $lte, $eq, $in].some((operand) => operand !== undefined),
  );
}

/** Orders that hold for nothing. */
const MATCHING_RULES: readonly Rule<SafetyTarget>[] = [
  {
    id: 'order.never_matches',
    severity: 'critical',
    reason: 'An order that never matches allows and denies nothing, although its author relies on it.',
    suggestion: 'Correct the condition that can never be met, or archive the order.',
    check: ({ faults }) =>
      faults.map(({ path, rule, message }) => ({
        path,
        message: `It can never match: ${message}.`,
        evidence: rule,
      })),
  },
  {
    id: 'order.expired',
    severity: 'critical',
    reason: 'An expired order has no effect in any status.',
    suggestion: 'Give it a new version with a later `expiresAt`, or archive it.',
    check: ({ order: { expiresAt }, at }) =>
      expiresAt !== null && expiresAt <= at
        ? [{ path: 'expiresAt', message: 'It has expired.', evidence: new Date(expiresAt).toISOString() }]
        : [],
  },
];

/**
 * True when `outer` matches every work packet that `inner` matches, at every time. Only what can be told from the two
 * rules for certain counts: where it cannot, the answer is false.
 */
function covers(outer: StandingOrderRule, inner: StandingOrderRule): boolean {
  return (outer.teamId === null || outer.teamId === inner.teamId) && isWithin(inner, outer);
}

/** True when two rules say the same, whatever they are called. */
function isSameRule(one: StandingOrderRule, other: StandingOrderRule): boolean {
  return canonicalJson(plain(one)) === canonicalJson(plain(other));
}

function plain({ teamId, capos, effect, match, when, limits, budget, approval }: StandingOrderRule): unknown {
  return {
    teamId,
    capos: sorted(capos),
    effect,
    match: given(match),
    when: given(when),
    limits: given(limits),
    budget: given(budget),
    approval: given(approval),
  };
}

/** Null and left out mean the same. */
function given(value: object | null): unknown {
  const members = Object.entries(value ?? {}).filter(([, member]) => member !== null && member !== undefined);
  return members.length === 0
    ? null
    : Object.fromEntries(
        members.map(([key, member]) => [key, Array.isArray(member) ? sorted(member) : member]),
      );
}

function sorted(list: readonly string[] | null): string[] | null {
  return list === null ? null : list.toSorted();
}

/** Orders that stand in each other's way. */
const CONTRADICTION_RULES: readonly Rule<SafetyTarget>[] = [
  {
    id: 'order.overridden',
    severity: 'warning',
    reason: 'The strictest order decides, so this one would never have its effect.',
    suggestion: 'Narrow or archive the stricter order, or do without this one.',
    check: ({ order, others }) =>
      others
        .filter((other) => decidesInstead(other, order) && covers(other, order))
        .map((other) => ({
          path: 'effect',
          message: `The standing order "${other.name}" (${other.effect}) holds for every work packet of this one.`,
          evidence: other.standingOrderId,
        })),
  },
  {
    id: 'order.overrides',
    severity: 'info',
    reason: 'An order that stands above another makes it useless, which may not have been meant.',
    suggestion: 'Narrow this order, or archive the other one.',
    check: ({ order, others }) =>
      others
        .filter((other) => decidesInstead(order, other) && covers(order, other))
        .map((other) => ({
          path: 'effect',
          message: `The standing order "${other.name}" (${other.effect}) can have no effect beside this one.`,
          evidence: other.standingOrderId,
        })),
  },
  {
    id: 'order.duplicate',
    severity: 'warning',
    reason: 'Of two orders that say the same, one is changed some day and the other is forgotten.',
    suggestion: 'Keep one of the two.',
    check: ({ order, others }) =>
      others
        .filter((other) => isSameRule(order, other))
        .map((other) => ({
          path: '',
          message: `The standing order "${other.name}" says the same.`,
          evidence: other.standingOrderId,
        })),
  },
  {
    id: 'order.weaker_throttle',
    severity: 'warning',
    reason: 'A pace that another order always keeps below has no effect.',
    suggestion: 'Lower the limits, or do without the order.',
    check: ({ order, others }) =>
      order.effect === 'throttle' ? others.flatMap((other) => slower(other, order)) : [],
  },
];

/** Whether the effect of one stands above that of the other. A pace is none: it lets pass what keeps to it. */
function decidesInstead(one: AssessedOrder, other: AssessedOrder): boolean {
  const isFinal = one.effect === 'deny' || one.effect === 'require_approval';
  return isFinal && strictness(one.effect) > strictness(other.effect);
}

function slower(other: AssessedOrder, order: AssessedOrder): Breach[] {
  const isSlower =
    other.effect === 'throttle' &&
    !isSameRule(order, other) &&
    covers(other, order) &&
    order.budget === null &&
    Object.entries(order.limits ?? {}).every(([limit, allowed]) => {
      const others = other.limits?.[limit as keyof OrderLimits];
      return !isSet(allowed) || (isSet(others) && others <= allowed);
    });
  if (!isSlower) return [];
  const message = `The standing order "${other.name}" keeps a pace that is never above this one.`;
  return [{ path: 'limits', message, evidence: other.standingOrderId }];
}

/** The rules of `standing_order_safety`. */
export const SAFETY_RULES: readonly Rule<SafetyTarget>[] = [
  ...BLAST_RADIUS_RULES,
  ...GATE_RULES,
  ...BUDGET_RULES,
  ...CONTRADICTION_RULES,
  ...MATCHING_RULES,
];
