import { describe, expect, it } from 'vitest';
import { Queues } from './queues.js';

const granted = (queues: Queues) => Object.fromEntries(queues.grant());

describe('queues', () => {
  it('grant nothing until one is woken, and then as much as one queue may have', () => {
    const queues = new Queues({ pool: 8, perQueue: 3 });
    expect(granted(queues)).toEqual({});
    queues.wake('a');
    expect(granted(queues)).toEqual({ a: 3 });
    expect(granted(queues)).toEqual({});
  });

  it('share what is free of the pool', () => {
    const queues = new Queues({ pool: 8, perQueue: 8 });
    for (const queue of ['a', 'b', 'c']) queues.wake(queue);
    expect(granted(queues)).toEqual({ a: 2, b: 2, c: 2 });
  });

  it('take turns when there are more of them than room', () => {
    const queues = new Queues({ pool: 2, perQueue: 2 });
    for (const queue of ['a', 'b', 'c']) queues.wake(queue);
    expect(granted(queues)).toEqual({ a: 1, b: 1 });
    queues.claimed('a', 1, 1, true);
    queues.claimed('b', 1, 1, true);
    expect(granted(queues)).toEqual({});
    queues.ended('a');
    queues.ended('b');
    expect(granted(queues)).toEqual({ c: 1, a: 1 });
  });

  it('look again at a full queue when half of it has ended', () => {
    const queues = new Queues({ pool: 8, perQueue: 4 });
    queues.wake('a');
    expect(granted(queues)).toEqual({ a: 4 });
    queues.claimed('a', 4, 4, true);
    queues.ended('a');
    expect(granted(queues)).toEqual({});
    queues.ended('a');
    expect(granted(queues)).toEqual({ a: 2 });
  });

  it('remember a wake-up of a full queue', () => {
    const queues = new Queues({ pool: 8, perQueue: 2 });
    queues.wake('a');
    granted(queues);
    queues.claimed('a', 2, 2, false);
    queues.wake('a');
    expect(granted(queues)).toEqual({});
    queues.ended('a');
    expect(granted(queues)).toEqual({ a: 1 });
  });

  it('look again as their own items end at a queue that others share', () => {
    const queues = new Queues({ pool: 8, perQueue: 4 });
    queues.wake('a');
    granted(queues);
    // Others have what else may be in flight.
    queues.claimed('a', 1, 4, true);
    expect(granted(queues)).toEqual({});
    queues.ended('a');
    expect(granted(queues)).toEqual({ a: 4 });
    queues.claimed('a', 0, 4, true);
    expect(granted(queues)).toEqual({});
    expect(queues.isIdle).toBe(true);
    queues.retry();
    expect(granted(queues)).toEqual({ a: 4 });
  });

  it('leave a queue alone that has nothing more due', () => {
    const queues = new Queues({ pool: 8, perQueue: 4 });
    queues.wake('a');
    granted(queues);
    queues.claimed('a', 4, 4, false);
    expect(queues.isIdle).toBe(false);
    for (let left = 4; left > 0; left--) queues.ended('a');
    expect(queues.isIdle).toBe(true);
    expect(granted(queues)).toEqual({});
  });
});
