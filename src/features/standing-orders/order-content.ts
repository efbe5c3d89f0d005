import type { Actor } from '../../platform/auth/caller.js';
import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import { newId } from '../../platform/kernel/ids.js';
import { type DecisionOrder, storableOrder } from './decision-input.js';
import type { StandingOrderRule, StandingOrderStatus } from './standing-order.js';
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

/** A draft in its first version. */
export function newOrder(
  { workspaceId, name, text, rule }: OrderContent & { workspaceId: string },
  by: Actor,
  at: number,
  heldBecause: string | null = null,
): StandingOrderEntity {
  return {
    ...columnsOfRule(rule),
    standingOrderId: newId('so'),
    workspaceId,
    name,
    text,
    status: 'draft',
    version: 1,
    heldBecause,
    simulation: null,
    evalRunId: null,
    createdBy: by,
    createdAt: at,
    updatedAt: at,
    activatedAt: null,
  };
}

/** The order as decisions would take it if it had this status. */
export function decisionOrderOf(
  order: RuleColumns & Pick<StandingOrderEntity, 'standingOrderId' | 'version' | 'hash' | 'name'>,
  status: StandingOrderStatus,
): DecisionOrder {
  const { standingOrderId, version, hash, name } = order;
  return storableOrder({ standingOrderId, version, hash, name, status, ...ruleOf(order) });
}
