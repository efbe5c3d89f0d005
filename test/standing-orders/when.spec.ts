import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { WEEKDAYS, type OrderWhen } from '../../src/features/standing-orders/standing-order.js';
import { appliesAt } from '../../src/features/standing-orders/when.js';

const BERLIN = 'Europe/Berlin';
const speaks = (when: OrderWhen, at: string | number) =>
  appliesAt(when, new Date(at).getTime(), 'away', false);

describe('presence', () => {
  it.each([
    [undefined, true],
    [null, true],
    [['away'], true],
    [['present', 'away'], true],
    [['present'], false],
  ] as const)('%j while the operator is away: %s', (presence, expected) => {
    expect(appliesAt({ presence }, 0, 'away', false)).toBe(expected);
  });
});

describe('a window', () => {
  const office: OrderWhen = { days: ['mon', 'tue'], from: '09:00', to: '17:00', timezone: BERLIN };
  const night: OrderWhen = { days: ['fri'], from: '22:00', to: '06:00', timezone: BERLIN };

  // 2026-07-06 is a Monday; Berlin is two hours ahead of UTC.
  it.each<[string, OrderWhen, string, boolean]>([
    ['before it opens', office, '2026-07-06T06:59:59.999Z', false],
    ['as it opens', office, '2026-07-06T07:00:00Z', true],
    ['just before it closes', office, '2026-07-06T14:59:59.999Z', true],
    ['as it closes', office, '2026-07-06T15:00:00Z', false],
    ['on another day', office, '2026-07-08T10:00:00Z', false],
    ['on a day of the zone, not of UTC', { days: ['tue'], timezone: BERLIN }, '2026-07-06T22:00:00Z', true],
    ['on a day of UTC, not of the zone', { days: ['mon'], timezone: BERLIN }, '2026-07-06T22:00:00Z', false],
    ['without days', { ...office, days: null }, '2026-07-11T10:00:00Z', true],
    ['overnight, in the evening', night, '2026-07-10T20:00:00Z', true],
    ['overnight, before the evening', night, '2026-07-10T19:59:59Z', false],
    ['overnight, the next morning', night, '2026-07-11T03:59:59Z', true],
    ['overnight, as it closes', night, '2026-07-11T04:00:00Z', false],
    ['overnight, the morning before', night, '2026-07-10T02:00:00Z', false],
    ['overnight, the evening after', night, '2026-07-11T20:00:00Z', false],
    ['from a time on', { from: '22:00', timezone: 'UTC' }, '2026-07-06T23:59:59Z', true],
    ['until a time', { to: '06:00', timezone: 'UTC' }, '2026-07-06T06:00:00Z', false],
  ])('%s', (_, when, at, expected) => {
    expect(speaks(when, at)).toBe(expected);
  });

  it.each<[string, OrderWhen, number]>([
    ['without a zone', { days: ['mon'] }, 0],
    ['in a zone nobody knows', { from: '09:00', to: '10:00', timezone: 'Nowhere/Land' }, 0],
    ['at a time outside the calendar', { days: ['mon'], timezone: 'UTC' }, Number.MAX_VALUE],
  ])('%s is a matter of doubt', (_, when, at) => {
    expect(appliesAt(when, at, 'away', false)).toBe(false);
    expect(appliesAt(when, at, 'away', true)).toBe(true);
  });
});

/** The instants at which the window opens and closes between two times, to the minute, as HH:MM in UTC. */
function edges(when: OrderWhen, from: string, hours: number): string[] {
  const start = Date.parse(from);
  const minutes = Array.from({ length: hours * 60 + 1 }, (_, minute) => start + minute * 60_000);
  return minutes
    .filter((at) => appliesAt(when, at, 'away', false) !== appliesAt(when, at - 60_000, 'away', false))
    .map((at) => new Date(at).toISOString().slice(11, 16));
}

describe('a window in Berlin on 28 March 2027, when 02:00 to 03:00 is skipped at 01:00Z', () => {
  it.each([
    ['00:30', '01:30', ['23:30', '00:30']],
    ['01:30', '03:30', ['00:30', '01:30']],
    ['01:30', '02:30', ['00:30', '01:00']],
    ['02:30', '03:30', ['01:00', '01:30']],
    ['02:00', '03:00', []],
    ['02:15', '02:45', []],
    ['22:00', '06:00', ['04:00', '20:00']],
  ])('from %s to %s', (from, to, expected) => {
    expect(edges({ from, to, timezone: BERLIN }, '2027-03-27T22:31:00Z', 23)).toEqual(expected);
  });

  it('is an hour shorter overnight', () => {
    const when: OrderWhen = { days: ['sat'], from: '22:00', to: '06:00', timezone: BERLIN };
    expect(edges(when, '2027-03-27T12:00:00Z', 24)).toEqual(['21:00', '04:00']);
  });
});

describe('a window in Berlin on 25 October 2026, when 02:00 to 03:00 comes twice, at 00:00Z and 01:00Z', () => {
  it.each([
    ['01:00', '02:30', ['23:00', '00:30']],
    ['02:00', '03:00', ['00:00', '02:00']],
    ['02:30', '04:00', ['00:30', '03:00']],
    ['02:15', '02:45', ['00:15', '00:45']],
    ['03:00', '04:00', ['02:00', '03:00']],
  ])('from %s to %s', (from, to, expected) => {
    expect(edges({ from, to, timezone: BERLIN }, '2026-10-24T22:31:00Z', 23)).toEqual(expected);
  });

  it('is an hour longer overnight', () => {
    const when: OrderWhen = { days: ['sat'], from: '22:00', to: '06:00', timezone: BERLIN };
    expect(edges(when, '2026-10-24T12:00:00Z', 24)).toEqual(['20:00', '05:00']);
  });
});

describe('the days of a zone', () => {
  // In the last three, clocks went back over midnight: the old date came twice.
  const zones = fc.constantFrom(
    'UTC',
    BERLIN,
    'America/New_York',
    'Australia/Lord_Howe',
    'Africa/Cairo',
    'Pacific/Apia',
    'Asia/Kathmandu',
    'America/St_Johns',
    'America/Havana',
    'America/Sao_Paulo',
  );
  const time = fc
    .tuple(fc.nat(23), fc.nat(59))
    .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`);
  const instants = fc.integer({ min: Date.UTC(2005, 0, 1), max: Date.UTC(2030, 0, 1) });

  it('are seven, of which every instant is in exactly one', () => {
    fc.assert(
      fc.property(zones, instants, (timezone, at) => {
        expect(WEEKDAYS.filter((day) => speaks({ days: [day], timezone }, at))).toHaveLength(1);
      }),
      { numRuns: 500 },
    );
  });

  it('have every instant either inside a window or inside its complement', () => {
    fc.assert(
      fc.property(zones, instants, time, time, (timezone, at, from, to) => {
        fc.pre(from !== to);
        expect(speaks({ from, to, timezone }, at)).toBe(!speaks({ from: to, to: from, timezone }, at));
      }),
      { numRuns: 500 },
    );
  });

  it('agree with the clock on the wall wherever no clock is changed', () => {
    fc.assert(
      fc.property(zones, instants, time, time, (timezone, at, from, to) => {
        const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone);
        fc.pre(from !== to && local.hoursInDay === 24 && local.subtract({ days: 1 }).hoursInDay === 24);
        const clock = local.toPlainTime().toString({ smallestUnit: 'minute' });
        const inside = from < to ? from <= clock && clock < to : from <= clock || clock < to;
        expect(speaks({ from, to, timezone }, at)).toBe(inside);
      }),
      { numRuns: 500 },
    );
  });

  it('belong, while midnight is undone, to the day that had begun', () => {
    // In Newfoundland, on 6 November 2011, the clock went from 00:01 back to 23:01.
    const daysAt = (at: string) =>
      WEEKDAYS.filter((name) => speaks({ days: [name], timezone: 'America/St_Johns' }, at));
    expect(daysAt('2011-11-06T02:29:59Z')).toEqual(['sat']);
    expect(daysAt('2011-11-06T02:30:00Z')).toEqual(['sun']);
    expect(daysAt('2011-11-06T02:31:00Z')).toEqual(['sun']);
    expect(daysAt('2011-11-06T03:30:00Z')).toEqual(['sun']);
  });

  it('skip 30 December 2011 in Apia, a Friday', () => {
    const daysAt = (day: string) =>
      WEEKDAYS.filter((name) => speaks({ days: [name], timezone: 'Pacific/Apia' }, day));
    expect(daysAt('2011-12-30T09:59:59Z')).toEqual(['thu']);
    expect(daysAt('2011-12-30T10:00:00Z')).toEqual(['sat']);
  });
});
