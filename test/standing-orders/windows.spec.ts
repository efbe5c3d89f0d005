import { Temporal } from 'temporal-polyfill';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BUDGET_WINDOWS } from '../../src/features/standing-orders/standing-order.js';
import { endOfWindow, startOfWindow } from '../../src/features/standing-orders/windows.js';

const instant = (text: string) => Temporal.Instant.from(text).epochMilliseconds;
const endOf = (window: 'day' | 'week' | 'month', at: string, zone: string) =>
  new Date(endOfWindow(window, instant(at), zone)).toISOString();

describe('the beginning of a calendar window', () => {
  it.each<['day' | 'week' | 'month', string, string, string]>([
    ['day', '2026-07-01T12:00Z', 'UTC', '2026-07-01T00:00:00.000Z'],
    ['day', '2026-07-01T22:30Z', 'Europe/Berlin', '2026-07-01T22:00:00.000Z'],
    // There is no midnight in that night: the day begins at 01:00.
    ['day', '2026-04-24T12:00Z', 'Africa/Cairo', '2026-04-23T22:00:00.000Z'],
    // There are two in that one: it begins with the first, whenever it is asked for.
    ['day', '2026-11-01T04:30Z', 'America/Havana', '2026-11-01T04:00:00.000Z'],
    ['day', '2026-11-01T05:30Z', 'America/Havana', '2026-11-01T04:00:00.000Z'],
    ['month', '2026-11-20T12:00Z', 'America/Havana', '2026-11-01T04:00:00.000Z'],
    // The clock was set back from 00:01 to 23:01: the new day goes on.
    ['day', '2010-11-07T02:45Z', 'America/St_Johns', '2010-11-07T02:30:00.000Z'],
    ['week', '2026-07-05T23:59Z', 'UTC', '2026-06-29T00:00:00.000Z'],
    ['month', '2026-10-31T22:30Z', 'Europe/Berlin', '2026-09-30T22:00:00.000Z'],
    ['day', '2026-07-01T23:30Z', 'Nowhere/Land', '2026-07-01T00:00:00.000Z'],
  ])('of the %s of %s in %s is %s', (window, at, zone, start) => {
    expect(new Date(startOfWindow(window, instant(at), zone)).toISOString()).toBe(start);
  });
});

describe('the end of a calendar window', () => {
  it.each<['day' | 'week' | 'month', string, string, string]>([
    ['day', '2026-07-01T12:00Z', 'UTC', '2026-07-02T00:00:00.000Z'],
    ['day', '2026-07-01T00:00Z', 'UTC', '2026-07-02T00:00:00.000Z'],
    ['day', '2026-07-01T23:59:59.999Z', 'UTC', '2026-07-02T00:00:00.000Z'],
    ['day', '2026-07-01T22:30Z', 'Europe/Berlin', '2026-07-02T22:00:00.000Z'],
    // The day on which the clock is put forward has 23 hours, the one on which it is put back 25.
    ['day', '2027-03-27T23:00Z', 'Europe/Berlin', '2027-03-28T22:00:00.000Z'],
    ['day', '2026-10-24T22:00Z', 'Europe/Berlin', '2026-10-25T23:00:00.000Z'],
    // By half an hour.
    ['day', '2026-10-03T14:00Z', 'Australia/Lord_Howe', '2026-10-04T13:00:00.000Z'],
    // There is no midnight in that night: the day begins at 01:00.
    ['day', '2026-04-23T12:00Z', 'Africa/Cairo', '2026-04-23T22:00:00.000Z'],
    // There are two in that one: it begins with the first.
    ['day', '2026-10-31T12:00Z', 'America/Havana', '2026-11-01T04:00:00.000Z'],
    ['day', '2026-11-01T04:30Z', 'America/Havana', '2026-11-02T05:00:00.000Z'],
    // The clock was set back over midnight.
    ['day', '2010-11-07T02:45Z', 'America/St_Johns', '2010-11-08T03:30:00.000Z'],
    ['week', '2026-07-01T12:00Z', 'UTC', '2026-07-06T00:00:00.000Z'],
    ['week', '2026-07-05T23:59Z', 'UTC', '2026-07-06T00:00:00.000Z'],
    ['week', '2026-07-06T00:00Z', 'UTC', '2026-07-13T00:00:00.000Z'],
    ['week', '2026-10-20T12:00Z', 'Europe/Berlin', '2026-10-25T23:00:00.000Z'],
    ['month', '2026-01-31T12:00Z', 'UTC', '2026-02-01T00:00:00.000Z'],
    ['month', '2026-12-31T23:59Z', 'UTC', '2027-01-01T00:00:00.000Z'],
    ['month', '2026-12-31T23:59Z', 'Europe/Berlin', '2027-01-31T23:00:00.000Z'],
    ['month', '2026-10-15T12:00Z', 'Europe/Berlin', '2026-10-31T23:00:00.000Z'],
  ])('of the %s of %s in %s is %s', (window, at, zone, end) => {
    expect(endOf(window, at, zone)).toBe(end);
  });

  it('is that of UTC for a zone that nobody knows', () => {
    expect(endOf('day', '2026-07-01T23:30Z', 'Nowhere/Land')).toBe('2026-07-02T00:00:00.000Z');
  });

  it('lies ahead, not further than the window is long, and is the same all through it', () => {
    const longest = { day: 25, week: 7 * 24 + 1, month: 31 * 24 + 1 };
    const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'Africa/Cairo', 'America/Havana', 'Asia/Kathmandu');
    const times = fc.integer({ min: Date.UTC(2025, 0, 1), max: Date.UTC(2028, 0, 1) });
    fc.assert(
      fc.property(
        fc.constantFrom(...BUDGET_WINDOWS),
        times,
        zones,
        fc.nat(999_999),
        (window, at, zone, share) => {
          const end = endOfWindow(window, at, zone);
          expect(end).toBeGreaterThan(at);
          expect(end - at).toBeLessThanOrEqual(longest[window] * 3_600_000);
          const later = at + Math.floor(((end - at) * share) / 1_000_000);
          expect(endOfWindow(window, later, zone)).toBe(end);
          const start = startOfWindow(window, later, zone);
          expect(start).toBeLessThanOrEqual(at);
          expect(endOfWindow(window, start, zone)).toBe(end);
          expect(endOfWindow(window, start - 1, zone)).toBe(start);
        },
      ),
    );
  });
});
