import type { Rule } from './rule.js';
import { LEVERAGE_RULES } from './soundness-leverage.js';
import { RATIONALE_RULES } from './soundness-rationale.js';
import { REGISTRY_RULES } from './soundness-registry.js';
import type { SoundnessTarget } from './soundness-target.js';

/** The rules of `workflow_candidate_soundness`. */
export const SOUNDNESS_RULES: readonly Rule<SoundnessTarget>[] = [
  ...LEVERAGE_RULES,
  ...RATIONALE_RULES,
  ...REGISTRY_RULES,
];
