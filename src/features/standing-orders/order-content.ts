import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import type { StandingOrderRule } from './standing-order.js';
import type { StandingOrderEntity } from './standing-order.entity.js';

/** What a version of an order keeps: its rule, and what it is called. */
export interface OrderContent {
  name: string;
  text: string;
  rule: StandingOrderRule;
}

/** The columns of a rule, in the form in which they are stored. */
export type RuleColumns = Pick<
  StandingOrderEntity,
  'teamId' | 'capos' | 'effect' | 'match' | 'when' | 'limits' | 'budget' | 'approval' | 'expiresAt'
>;

export function ruleOf(order: RuleColumns): StandingOrderRule {
  const { teamId, capos, effect, match, when, limits, budget, approval, expiresAt } = order;
  return { teamId, capos, effect, match, when, limits, budget, approval, expiresAt };
}

/** The rule as the columns of an order take it, with the hash by which decisions name it. */
export function columnsOfRule(rule: StandingOrderRule): RuleColumns & Pick<StandingOrderEntity, 'hash'> {
  return { ...rule, capos: rule.capos && [...rule.capos], hash: sha256(canonicalJson(rule)) };
}
