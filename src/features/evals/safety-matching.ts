import type { Rule } from './rule.js';
import type { SafetyTarget } from './safety-target.js';

/** Orders that hold for nothing. */
export const MATCHING_RULES: readonly Rule<SafetyTarget>[] = [
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
