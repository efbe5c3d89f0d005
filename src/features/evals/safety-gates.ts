import type { FieldCondition } from '../standing-orders/index.js';
import type { Rule } from './rule.js';
import { allows, irreversibleOf, isSet, type SafetyTarget, some } from './safety-target.js';

/** As the risk of a work packet counts an audience (`riskOf`). */
const LARGE_AUDIENCE = 50;
/** What was drafted a week ago may not be true any more. */
const LONG_WAIT_MINUTES = 7 * 24 * 60;

/** Where a person should be asked, and is not. */
export const GATE_RULES: readonly Rule<SafetyTarget>[] = [
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
