import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OrderBudget } from '../../src/features/standing-orders/standing-order.js';
import { useOf, UsesOfOrder } from '../../src/features/standing-orders/uses-of-order.js';

const HOUR_MS = 3_600_000;
const LIMITS = { maxPerHour: 5, maxPerDay: 50, maxAmountPerDay: 100 };
const at = (text: string) => Date.parse(text);
const budget = (window: 'day' | 'week' | 'month') => ({ window, amount: 100, currency: 'EUR' });

/** Counts and answers under one rule and in one zone. */
class Counted {
  readonly #uses = new UsesOfOrder();

  constructor(
    private readonly order: { limits: typeof LIMITS | null; budget: OrderBudget | null },
    private readonly timezone: string,
  ) {}

  count(time: number, moved: Parameters<typeof useOf>[0]): void {
    this.#uses.add(useOf(moved, time));
  }

  before(time: number, currency: string | null) {
    return this.#uses.usage(this.order, { at: time, timezone: this.timezone, currency });
  }
}

describe('UsesOfOrder', () => {
  it('counts what lies within the last hour and day, and no longer what is exactly so old', () => {
    const used = new Counted({ limits: LIMITS, budget: null }, 'UTC');
    const start = at('2026-03-02T10:00:00Z');
    used.count(start, { amount: null, currency: null });
    used.count(start + 1, { amount: null, currency: null });
    expect(used.before(start + HOUR_MS - 1, null)).toMatchObject({ lastHour: 2, lastDay: 2 });
    expect(used.before(start + HOUR_MS, null)).toMatchObject({ lastHour: 1, lastDay: 2 });
    expect(used.before(start + 24 * HOUR_MS, null)).toMatchObject({ lastHour: 0, lastDay: 1 });
    expect(used.before(start + 24 * HOUR_MS + 1, null)).toMatchObject({ lastHour: 0, lastDay: 0 });
  });

  it('counts as the plain definition does, however many there are', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 2 * HOUR_MS }), {
      minLength: 1,
      maxLength: 3_000,
      size: 'max',
    });
    fc.assert(
      fc.property(steps, (gaps) => {
        const used = new Counted({ limits: LIMITS, budget: null }, 'UTC');
        const times: number[] = [];
        let now = at('2026-03-02T10:00:00Z');
        for (const gap of gaps) {
          now += gap;
          const { lastHour, lastDay } = used.before(now, null);
          expect(lastHour).toBe(times.filter((time) => time > now - HOUR_MS).length);
          expect(lastDay).toBe(times.filter((time) => time > now - 24 * HOUR_MS).length);
          used.count(now, { amount: null, currency: null });
          times.push(now);
        }
      }),
      { numRuns: 10 },
    );
  });

  it('begins the sums of the day at midnight of the workspace, each currency by itself', () => {
    const used = new Counted({ limits: LIMITS, budget: null }, 'Europe/Vienna');
    used.count(at('2026-03-02T22:59:59Z'), { amount: 10.1, currency: 'EUR' });
    used.count(at('2026-03-02T22:59:59Z'), { amount: -5, currency: 'USD' });
    expect(used.before(at('2026-03-02T22:59:59Z'), 'EUR').amountToday).toBe(10.1);
    expect(used.before(at('2026-03-02T22:59:59Z'), 'USD').amountToday).toBe(5);
    expect(used.before(at('2026-03-02T22:59:59Z'), null).amountToday).toBe(0);
    expect(used.before(at('2026-03-02T23:00:00Z'), 'EUR').amountToday).toBe(0);
  });

  it.each([
    ['day', '2026-03-29T00:30:00+01:00', '2026-03-29T23:59:00+02:00', '2026-03-30T00:00:00+02:00'],
    ['week', '2026-03-23T00:00:00+01:00', '2026-03-29T23:59:00+02:00', '2026-03-30T00:00:00+02:00'],
    ['month', '2026-03-01T00:00:00+01:00', '2026-03-31T23:59:00+02:00', '2026-04-01T00:00:00+02:00'],
  ] as const)('has one budget for each %s, over the change of the clock too', (window, first, last, next) => {
    const used = new Counted({ limits: null, budget: budget(window) }, 'Europe/Vienna');
    used.count(at(first), { amount: 0.1, currency: 'EUR' });
    used.count(at(first), { amount: 0.2, currency: 'EUR' });
    used.count(at(first), { amount: 7, currency: 'USD' });
    expect(used.before(at(last), 'EUR').budgetSpent).toBe(0.3);
    expect(used.before(at(next), 'EUR').budgetSpent).toBe(0);
  });

  it('begins a day whose midnight is shown twice as the gate does: with the first one', () => {
    // In Havana the clock goes from 01:00 back to 00:00 on the first of November.
    const used = new Counted({ limits: LIMITS, budget: null }, 'America/Havana');
    used.count(at('2026-10-31T23:59:59-04:00'), { amount: 7, currency: 'EUR' });
    expect(used.before(at('2026-11-01T00:00:00-04:00'), 'EUR').amountToday).toBe(0);
    used.count(at('2026-11-01T00:30:00-04:00'), { amount: 1, currency: 'EUR' });
    expect(used.before(at('2026-11-01T00:30:00-04:00'), 'EUR').amountToday).toBe(1);
    used.count(at('2026-11-01T00:30:00-05:00'), { amount: 2, currency: 'EUR' });
    expect(used.before(at('2026-11-01T12:00:00-05:00'), 'EUR').amountToday).toBe(3);
  });
});
