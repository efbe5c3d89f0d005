import { InvalidTransition } from '../../platform/kernel/errors.js';
import type { StandingOrderEntity } from './standing-order.entity.js';

/*
 * Each answers the order as it is afterwards, or undefined when it is that way already: asking again changes nothing.
 */

/** @throws InvalidTransition for an order that is archived or that has expired */
export function activate(order: StandingOrderEntity, at: number): StandingOrderEntity | undefined {
  if (order.status === 'active') return undefined;
  if (order.status === 'archived') {
    throw new InvalidTransition({ message: 'The standing order is archived; create a new one instead.' });
  }
  if (order.expiresAt !== null && order.expiresAt <= at) {
    throw new InvalidTransition({
      message: 'The standing order has expired, so activating it would have no effect.',
    });
  }
  return { ...order, status: 'active', heldBecause: null, activatedAt: at, updatedAt: at };
}

/** @throws InvalidTransition for an order that is not active */
export function pause(order: StandingOrderEntity, at: number): StandingOrderEntity | undefined {
  if (order.status === 'paused') return undefined;
  if (order.status !== 'active') {
    throw new InvalidTransition({
      message: `Only an active standing order can be paused; this one is ${order.status}.`,
    });
  }
  return { ...order, status: 'paused', updatedAt: at };
}

export function archive(order: StandingOrderEntity, at: number): StandingOrderEntity | undefined {
  return order.status === 'archived' ? undefined : { ...order, status: 'archived', updatedAt: at };
}
