import { type OrderLimits, strictness } from '../standing-orders/index.js';
import { covers, isSameRule } from './order-cover.js';
import type { Breach, Rule } from './rule.js';
import { type AssessedOrder, isSet, type SafetyTarget } from './safety-target.js';

/** Orders that stand in each other's way. */
export const CONTRADICTION_RULES: readonly Rule<SafetyTarget>[] = [
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
