import { describe, expect, it } from 'vitest';
import type {
  DecidedPacket,
  DecisionOrder,
  OrderUsage,
} from '../../src/features/standing-orders/decision-input.js';
import { checkLimits } from '../../src/features/standing-orders/limits.js';
import { aPacket, anOrder } from './factories.js';

/** A Wednesday at noon. */
const NOW = Date.UTC(2026, 6, 1, 12);
const MOMENT = { at: NOW, timezone: 'Europe/Berlin' };
const HOUR = 3_600_000;

const NOTHING: OrderUsage = { lastHour: 0, lastDay: 0, amountToday: 0, budgetSpent: 0 };

function resultsOf(
  order: Partial<DecisionOrder>,
  packet: Partial<DecidedPacket>,
  usage: Partial<OrderUsage> = {},
) {
  return checkLimits(anOrder(order), aPacket(packet), MOMENT, { ...NOTHING, ...usage }).map((check) => ({
    ...check.result,
    remark: check.remark,
  }));
}

describe('a limit', () => {
  it.each<[string, DecisionOrder['limits'], Partial<DecidedPacket>, Partial<OrderUsage>, number, boolean]>([
    ['maxPerHour', { maxPerHour: 3 }, {}, { lastHour: 2, lastDay: 9 }, 3, true],
    ['maxPerHour', { maxPerHour: 3 }, {}, { lastHour: 3 }, 4, false],
    ['maxPerDay', { maxPerDay: 3 }, {}, { lastDay: 2 }, 3, true],
    ['maxPerDay', { maxPerDay: 3 }, {}, { lastDay: 3 }, 4, false],
    ['maxRecipients', { maxRecipients: 10 }, { recipients: 10 }, {}, 10, true],
    ['maxRecipients', { maxRecipients: 10 }, { recipients: 11 }, {}, 11, false],
    ['maxAmountPerDay', { maxAmountPerDay: 500 }, { amount: 100 }, { amountToday: 400 }, 500, true],
    ['maxAmountPerDay', { maxAmountPerDay: 500 }, { amount: 100.01 }, { amountToday: 400 }, 500.01, false],
    ['maxAmountPerDay', { maxAmountPerDay: 500 }, { amount: -600 }, {}, 600, false],
    ['maxAmountPerDay', { maxAmountPerDay: 500 }, { amount: null }, { amountToday: 500 }, 500, true],
    ['maxAmountPerDay', { maxAmountPerDay: 0.3 }, { amount: 0.1 }, { amountToday: 0.2 }, 0.3, true],
    [
      'maxAmountPerDay',
      { maxAmountPerDay: 500 },
      { amount: Number.MAX_VALUE },
      { amountToday: Number.MAX_VALUE },
      Number.MAX_VALUE,
      false,
    ],
  ])('%s of %j, for %j after %j: %d, holds %s', (limit, limits, packet, usage, used, holds) => {
    expect(resultsOf({ limits }, packet, usage)).toMatchObject([{ limit, used, holds }]);
  });

  it('is not checked where none is set', () => {
    expect(resultsOf({ limits: { maxPerHour: null } }, {})).toEqual([]);
    expect(resultsOf({ limits: null }, {})).toEqual([]);
  });

  it.each<[string, DecisionOrder['effect'], DecisionOrder['limits'], Partial<DecidedPacket>, string]>([
    ['asks when the order allows', 'allow', { maxPerDay: 1 }, {}, 'require_approval'],
    ['waits when the order throttles', 'throttle', { maxPerDay: 1 }, {}, 'throttle'],
    ['waits for an amount', 'throttle', { maxAmountPerDay: 5 }, { amount: 5 }, 'throttle'],
    [
      'asks for an amount too large for any day',
      'throttle',
      { maxAmountPerDay: 5 },
      { amount: 6 },
      'require_approval',
    ],
    ['asks for a crowd', 'throttle', { maxRecipients: 5 }, { recipients: 6 }, 'require_approval'],
  ])('%s', (_, effect, limits, packet, otherwise) => {
    const usage = { ...NOTHING, lastDay: 1, amountToday: 1 };
    expect(checkLimits(anOrder({ effect, limits }), aPacket(packet), MOMENT, usage)).toMatchObject([
      { otherwise, result: { holds: false } },
    ]);
  });

  it('counts from nothing where the order has no usage', () => {
    expect(checkLimits(anOrder({ limits: { maxPerDay: 1 } }), aPacket(), MOMENT)[0]?.result).toMatchObject({
      used: 1,
      holds: true,
    });
  });
});

describe('a budget', () => {
  const budget = { window: 'month', amount: 100, currency: 'EUR', warnPercent: 80 } as const;

  it.each<[string, Partial<DecidedPacket>, number, number, boolean, string | null]>([
    ['well within', { amount: 20, currency: 'EUR' }, 59, 79, true, null],
    [
      'near its end',
      { amount: 20, currency: 'EUR' },
      60,
      80,
      true,
      '80 of its budget of 100 EUR for the month would then be used',
    ],
    [
      'to the cent',
      { amount: 20, currency: 'EUR' },
      80,
      100,
      true,
      '100 of its budget of 100 EUR for the month would then be used',
    ],
    [
      'beyond',
      { amount: 20.01, currency: 'EUR' },
      80,
      100.01,
      false,
      'its budget of 100 EUR for the month would be exceeded at 100.01',
    ],
    [
      'in another currency',
      { amount: 1, currency: 'USD' },
      0,
      0,
      false,
      'its budget of 100 EUR for the month cannot be compared with an amount in USD',
    ],
    [
      'without a currency',
      { amount: 1, currency: null },
      0,
      0,
      false,
      'its budget of 100 EUR for the month cannot be compared with an amount in no currency',
    ],
    ['without an amount', { amount: null, currency: null }, 50, 50, true, null],
  ])('%s', (_, packet, budgetSpent, used, holds, remark) => {
    expect(resultsOf({ budget }, packet, { budgetSpent })).toEqual([
      { standingOrderId: 'so_1', limit: 'budget', allowed: 100, used, holds, remark },
    ]);
  });

  it.each([
    [{ amount: 30, currency: 'EUR' }, 'throttle'],
    [{ amount: 101, currency: 'EUR' }, 'require_approval'],
    [{ amount: 30, currency: 'USD' }, 'require_approval'],
  ])('that is to be waited for does with %j: %s', (packet, otherwise) => {
    const waiting = { ...budget, onExceed: 'throttle' } as const;
    const checks = checkLimits(anOrder({ budget: waiting }), aPacket(packet), MOMENT, {
      ...NOTHING,
      budgetSpent: 80,
    });
    expect(checks).toMatchObject([{ otherwise, result: { holds: false } }]);
  });

  it('says nothing near its end when no share was set', () => {
    const quiet = { ...budget, warnPercent: null };
    expect(resultsOf({ budget: quiet }, { amount: 99, currency: 'EUR' })[0]?.remark).toBeNull();
  });
});

describe('when there is room again', () => {
  const pace = (limits: DecisionOrder['limits']) => anOrder({ effect: 'throttle', limits });
  const untils = (
    order: DecisionOrder,
    usage: Partial<OrderUsage>,
    packet: Partial<DecidedPacket> = {},
    timezone = 'Europe/Berlin',
  ) =>
    checkLimits(order, aPacket(packet), { at: NOW, timezone }, { ...NOTHING, ...usage }).map(
      ({ result }) => result.until,
    );

  it('is what is known of the uses of the last hour and day, and at the latest when they have all left', () => {
    expect(untils(pace({ maxPerHour: 2 }), { lastHour: 2, hourRoomAt: NOW + 5 })).toEqual([NOW + 5]);
    expect(untils(pace({ maxPerHour: 2 }), { lastHour: 2 })).toEqual([NOW + HOUR]);
    expect(untils(pace({ maxPerDay: 2 }), { lastDay: 2, dayRoomAt: NOW + 7 })).toEqual([NOW + 7]);
    expect(untils(pace({ maxPerDay: 2 }), { lastDay: 2 })).toEqual([NOW + 24 * HOUR]);
  });

  it('lies ahead, whatever is said of the uses', () => {
    expect(untils(pace({ maxPerHour: 2 }), { lastHour: 2, hourRoomAt: NOW - 5 })).toEqual([NOW + 1]);
  });

  it('is the next day of the zone for amounts', () => {
    const usage = { amountToday: 5 };
    const packet = { amount: 5, currency: 'EUR' };
    const order = pace({ maxAmountPerDay: 5 });
    expect(untils(order, usage, packet)).toEqual([Date.UTC(2026, 6, 1, 22)]);
    expect(untils(order, usage, packet, 'Asia/Tokyo')).toEqual([Date.UTC(2026, 6, 1, 15)]);
  });

  it.each([
    ['day', Date.UTC(2026, 6, 1, 22)],
    ['week', Date.UTC(2026, 6, 5, 22)],
    ['month', Date.UTC(2026, 6, 31, 22)],
  ] as const)('is the next %s of the zone for a budget that lets wait', (window, until) => {
    const budget = { window, amount: 10, currency: 'EUR', onExceed: 'throttle' } as const;
    const packet = { amount: 5, currency: 'EUR' };
    expect(untils(anOrder({ budget }), { budgetSpent: 6 }, packet)).toEqual([until]);
  });

  it('is the end of the order when that comes first', () => {
    const order = { ...pace({ maxPerHour: 1 }), expiresAt: NOW + 60_000 };
    expect(untils(order, { lastHour: 1 })).toEqual([NOW + 60_000]);
  });

  it('is not said where there is room, nor where waiting does not help', () => {
    expect(untils(pace({ maxPerHour: 2 }), { lastHour: 1 })).toEqual([undefined]);
    expect(untils(pace({ maxRecipients: 1 }), {}, { recipients: 2 })).toEqual([undefined]);
    expect(untils(anOrder({ limits: { maxPerHour: 1 } }), { lastHour: 1 })).toEqual([undefined]);
    const order = pace({ maxAmountPerDay: 5 });
    expect(untils(order, {}, { amount: 6, currency: 'EUR' })).toEqual([undefined]);
  });

  it('is said to the person who reads the decision', () => {
    const [check] = checkLimits(pace({ maxPerHour: 1 }), aPacket(), MOMENT, { ...NOTHING, lastHour: 1 });
    expect(check!.remark).toBe(
      'it would be work packet 2 of this hour and the limit is 1; there is room again at 2026-07-01T13:00:00.000Z',
    );
  });
});
