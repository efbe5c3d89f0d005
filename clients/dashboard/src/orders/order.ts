import type { CreateStandingOrderBody, StandingOrderSummary } from '@consigliere/sdk';

export type Order = CreateStandingOrderBody;

export const EFFECTS: Record<Order['effect'], string> = {
  allow: 'let it go by itself',
  throttle: 'slow it down to a pace',
  require_approval: 'ask a person each time',
  deny: 'never let it go',
};

/**
 * Whether only an owner may let it decide, who says that they know what it does: the service held it for that, or its simulation let out
 * what cannot be taken back.
 */
export function needsOwner({ heldBecause, simulation }: StandingOrderSummary): boolean {
  return (heldBecause?.includes('"acknowledge"') ?? false) || (simulation?.relaxedIrreversible ?? 0) > 0;
}

/** The order as it can be written: without what the service adds, and without parts that are not there. */
export function writtenOf(order: Omit<Order, 'teamId'>): Order {
  const { name, text, capos, effect, match, when, limits, budget, approval, expiresAt } = order;
  const parts = { text: text === name ? null : text, capos, when, limits, budget, approval, expiresAt };
  return {
    name,
    effect,
    match,
    ...Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== null && part !== undefined)),
  };
}

/** The order as it decides: what was written, for its team. */
export function ruleOf(order: Order): Order {
  return { ...writtenOf(order), ...(order.teamId && { teamId: order.teamId }) };
}
