import { InvalidTransition } from '../../platform/kernel/errors.js';
import type { StandingOrderEntity } from './standing-order.entity.js';

/*
 * Each answers the order as it is afterwards, or undefined when it is that way already: asking again changes nothing.
 */

/** @throws InvalidTransition for an order that is archived or that has expired */
export function activate(order: StandingOrderEntity, at: number): StandingOrderEntity | undefined {
  if (order.status === 'active') return undefined;
  requireUsable(order, at, 'activating it');
  return { ...order, status: 'active', heldBecause: null, activatedAt: at, updatedAt: at };
}

/** Only tries it out. @throws InvalidTransition for an order that is archived or that has expired */
export function shadow(order: StandingOrderEntity, at: number): StandingOrderEntity | undefined {
  if (order.status === 'shadow') return undefined;
  requireUsable(order, at, 'trying it out');
  return { ...order, status: 'shadow', updatedAt: at };
}

/** @throws InvalidTransition for an order that neither decides nor is tried out */
export function pause(order: StandingOrderEntity, at: number): StandingOrderEntity | undefined {
  if (order.status === 'paused') return undefined;
  if (order.status !== 'active' && order.status !== 'shadow') {
    throw new InvalidTransition({
      message: `Only a standing order that is active or in shadow can be paused; this one is ${order.status}.`,
    });
  }
  return { ...order, status: 'paused', updatedAt: at };
}

export function archive(order: StandingOrderEntity, at: number): StandingOrderEntity | undefined {
  return order.status === 'archived' ? undefined : { ...order, status: 'archived', updatedAt: at };
}

function requireUsable({ status, expiresAt }: StandingOrderEntity, at: number, doing: string): void {
  if (status === 'archived') {
    throw new InvalidTransition({ message: 'The standing order is archived; create a new one instead.' });
  }
  if (expiresAt !== null && expiresAt <= at) {
    throw new InvalidTransition({
      message: `The standing order has expired, so ${doing} would have no effect.`,
    });
  }
}
