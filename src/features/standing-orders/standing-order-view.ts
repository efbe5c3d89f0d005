import type { NewReceipt } from '../../platform/receipts/receipts.js';
import type { Actor } from '../../platform/auth/caller.js';
import type { StandingOrderMatch, StandingOrderWhen } from './standing-order-rule.dto.js';
import type { StandingOrderEntity } from './standing-order.entity.js';
import type { StandingOrderSummary, StandingOrderView } from './standing-orders.dto.js';
import type { ListedOrder } from './standing-orders.repository.js';

export function viewOf(order: StandingOrderEntity): StandingOrderView {
  return {
    ...summaryOf(order),
    // The rule's lists are read-only; a view's are not, and nothing changes a view.
    match: order.match as StandingOrderMatch,
    when: order.when as StandingOrderWhen | null,
    approval: order.approval,
  };
}

export function summaryOf(order: ListedOrder): StandingOrderSummary {
  return {
    standingOrderId: order.standingOrderId,
    name: order.name,
    text: order.text,
    teamId: order.teamId,
    capos: order.capos,
    status: order.status,
    heldBecause: order.heldBecause,
    version: order.version,
    effect: order.effect,
    limits: order.limits,
    budget: order.budget,
    expiresAt: order.expiresAt,
    simulation: order.simulation?.version === order.version ? order.simulation : null,
    evalRunId: order.evalRunId,
    hash: order.hash,
    createdBy: order.createdBy,
    createdAt: order.createdAt,
    updatedAt: order.updatedAt,
    activatedAt: order.activatedAt,
  };
}

/**
 * What the chain keeps of an act on an order. The hash is that of its rule, which stands in the receipt of each version
 * (`details.rule`): with these receipts alone a decision can be made again.
 */
export function receiptOf(
  order: StandingOrderEntity,
  act: 'created' | 'activated' | 'paused' | 'archived',
  by: Actor,
  details: Record<string, unknown> = {},
): NewReceipt {
  const { standingOrderId, teamId, name, effect, version, hash, status, heldBecause } = order;
  return {
    actor: by,
    action: `standing_order.${act}`,
    entity: { type: 'standing_order', id: standingOrderId },
    teamId,
    summary: `${by.name} ${act} the standing order "${name}".`,
    details: { name, effect, version, hash, status, heldBecause, ...details },
  };
}
