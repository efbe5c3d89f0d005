import type { CreateStandingOrderBody, StandingOrderSummary } from '@consigliere/sdk';

export type Order = CreateStandingOrderBody;

export const EFFECTS: Record<Order['effect'], string> = {
  allow: 'let it go by itself',
  throttle: 'let it go by itself, at a pace',
  require_approval: 'ask a person each time',
  deny: 'never let it go',
};

/** The same, for those who choose: what the limits do. */
export const EFFECT_CHOICES: typeof EFFECTS = {
  ...EFFECTS,
  allow: 'let it go by itself; what goes beyond a limit asks a person',
  throttle: 'let it go by itself, at a pace; what goes beyond a limit waits',
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
