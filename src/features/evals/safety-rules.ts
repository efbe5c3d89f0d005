import { canonicalJson } from '../../platform/kernel/canonical-json.js';
import {
  type FieldCondition,
  type StandingOrderRule,
  isWithin,
  type OrderLimits,
  strictness,
} from '../standing-orders/index.js';
import type { Rule, Breach } from './rule.js';
import {
  allows,
  irreversibleOf,
  isSet,
  type SafetyTarget,
  some,
  type AssessedOrder,
} from './safety-target.js';
import { BLAST_RADIUS_RULES } from './safety-blast-radius.js';
import { BUDGET_RULES } from './safety-budgets.js';

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
