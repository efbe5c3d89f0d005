import type { Rule } from './rule.js';
import { BLAST_RADIUS_RULES } from './safety-blast-radius.js';
import { BUDGET_RULES } from './safety-budgets.js';
import { CONTRADICTION_RULES } from './safety-contradictions.js';
import { GATE_RULES } from './safety-gates.js';
import { MATCHING_RULES } from './safety-matching.js';
import type { SafetyTarget } from './safety-target.js';

/** The rules of `standing_order_safety`. */
export const SAFETY_RULES: readonly Rule<SafetyTarget>[] = [
  ...BLAST_RADIUS_RULES,
  ...GATE_RULES,
  ...BUDGET_RULES,
  ...CONTRADICTION_RULES,
  ...MATCHING_RULES,
];
