import { describe, expect, it } from 'vitest';
import { orderOf } from '../../src/features/standing-orders/known-orders.js';
import { anOrder } from './factories.js';

describe('the orders that are known by their text', () => {
  it('are read once, and anew when anything of them has changed', () => {
    const order = anOrder({ name: 'Notes' });
    const first = orderOf(JSON.stringify(order));
    expect(first).toEqual(order);
    expect(orderOf(JSON.stringify(order))).toBe(first);
    expect(orderOf(JSON.stringify({ ...order, effect: 'deny' }))).toEqual({ ...order, effect: 'deny' });
    expect(orderOf(JSON.stringify({ ...order, status: 'paused' })).status).toBe('paused');
  });

  it('cannot be changed by whoever has read them', () => {
    const order = orderOf(JSON.stringify(anOrder({ match: { actionTypes: ['document.file'] } })));
    expect(() => (order.match.actionTypes as string[]).push('email.send')).toThrow(TypeError);
  });

  it('are forgotten, the longest unused first, before they fill the memory', () => {
    const text = (n: number) => JSON.stringify(anOrder({ name: `${n}`.padEnd(100_000, '.') }));
    const [used, unused] = [orderOf(text(0)), orderOf(text(1))];
    for (let n = 2; n < 60; n++) {
      orderOf(text(n));
      expect(orderOf(text(0))).toBe(used);
    }
    expect(orderOf(text(1))).not.toBe(unused);
  });
});
