import { describe, expect, it } from 'vitest';
import { orderOf } from '../../src/features/standing-orders/known-orders.js';
import type { DecisionOrder } from '../../src/features/standing-orders/decision-input.js';
import { anOrder } from './factories.js';

/** The order as the database gives it. */
const rowOf = ({ match, when, limits, budget, approval, ...plain }: DecisionOrder) => ({
  ...plain,
  match: JSON.stringify(match),
  when: when && JSON.stringify(when),
  limits: limits && JSON.stringify(limits),
  budget: budget && JSON.stringify(budget),
  approval: approval && JSON.stringify(approval),
});

describe('the orders that are known by their text', () => {
  it('are read once, and anew when anything of them has changed', () => {
    const order = anOrder({ name: 'Notes' });
    const first = orderOf(rowOf(order));
    expect(first).toEqual(order);
    expect(orderOf(rowOf(order))).toBe(first);
    expect(orderOf(rowOf({ ...order, effect: 'deny' }))).toEqual({ ...order, effect: 'deny' });
    expect(orderOf(rowOf({ ...order, status: 'paused' })).status).toBe('paused');
  });

  it('cannot be changed by whoever has read them', () => {
    const order = orderOf(rowOf(anOrder({ match: { actionTypes: ['document.file'] } })));
    expect(() => (order.match.actionTypes as string[]).push('email.send')).toThrow(TypeError);
  });

  it('are forgotten, the longest unused first, before they fill the memory', () => {
    const row = (n: number) => rowOf(anOrder({ name: `${n}`.padEnd(100_000, '.') }));
    const [used, unused] = [orderOf(row(0)), orderOf(row(1))];
    for (let n = 2; n < 60; n++) {
      orderOf(row(n));
      expect(orderOf(row(0))).toBe(used);
    }
    expect(orderOf(row(1))).not.toBe(unused);
  });
});
