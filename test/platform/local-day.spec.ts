import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import {
  dayAfter,
  dayBefore,
  dayOf,
  isDayIn,
  isKnownZone,
  knownZone,
  startOf,
} from '../../src/platform/kernel/local-day.js';
import { ZONES } from '../support/zones.js';

const HOUR_MS = 3_600_000;
const at = (iso: string) => Temporal.Instant.from(iso).epochMilliseconds;
const iso = (ms: number) => new Date(ms).toISOString();

describe('a day', () => {
  it.each<[zone: string, date: string, start: string, hours: number]>([
    ['UTC', '2026-03-29', '2026-03-29T00:00:00.000Z', 24],
    ['Europe/Berlin', '2027-03-28', '2027-03-27T23:00:00.000Z', 23],
    ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00.000Z', 25],
    ['Australia/Lord_Howe', '2026-10-04', '2026-10-03T13:30:00.000Z', 23.5],
    ['Australia/Lord_Howe', '2026-04-05', '2026-04-04T13:00:00.000Z', 24.5],
    // There is no midnight.
    ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00.000Z', 23],
    ['America/Sao_Paulo', '2017-10-15', '2017-10-15T03:00:00.000Z', 23],
    ['America/Havana', '2026-03-08', '2026-03-08T05:00:00.000Z', 23],
    // The hour before midnight comes twice.
    ['Africa/Cairo', '2026-10-29', '2026-10-28T21:00:00.000Z', 25],
    ['America/Sao_Paulo', '2018-02-17', '2018-02-17T02:00:00.000Z', 25],
    // Midnight comes twice: after an hour, after half an hour.
    ['America/Havana', '2026-11-01', '2026-11-01T04:00:00.000Z', 25],
    ['Atlantic/Azores', '2026-10-25', '2026-10-25T00:00:00.000Z', 25],
    ['Asia/Colombo', '1996-10-26', '1996-10-25T17:30:00.000Z', 24.5],
    // The clock is set back over midnight: 00:01 becomes 23:01 of the day before.
    ['America/St_Johns', '2010-11-06', '2010-11-06T02:30:00.000Z', 24],
    ['America/St_Johns', '2010-11-07', '2010-11-07T02:30:00.000Z', 25],
    // 02:00 becomes 23:00 of the day before.
    ['Antarctica/Casey', '2010-03-05', '2010-03-04T13:00:00.000Z', 27],
    // The clock jumps over midnight, from 23:30 to 00:30.
    ['America/Toronto', '1919-03-31', '1919-03-31T04:30:00.000Z', 23.5],
    // The day after it is left out.
    ['Pacific/Apia', '2011-12-29', '2011-12-29T10:00:00.000Z', 24],
    ['Pacific/Apia', '2011-12-31', '2011-12-30T10:00:00.000Z', 24],
  ])('of %s, %s, begins at %s and has %d hours', (zone, date, start, hours) => {
    const from = startOf(date, zone);
    const to = startOf(dayAfter(date, zone), zone);
    expect([iso(from), (to - from) / HOUR_MS]).toEqual([start, hours]);
    for (let moment = from; moment < to; moment += HOUR_MS / 4)
      expect(dayOf(moment, zone), iso(moment)).toBe(date);
    expect(dayOf(to - 1, zone)).toBe(date);
    expect(dayOf(from - 1, zone)).toBe(dayBefore(date, zone));
  });

  it('that the zone skipped is none', () => {
    expect(isDayIn('2011-12-30', 'Pacific/Apia')).toBe(false);
    expect(isDayIn('2011-12-30', 'Europe/Berlin')).toBe(true);
    expect(dayAfter('2011-12-29', 'Pacific/Apia')).toBe('2011-12-31');
    expect(dayBefore('2011-12-31', 'Pacific/Apia')).toBe('2011-12-29');
    expect(startOf('2011-12-30', 'Pacific/Apia')).toBe(startOf('2011-12-31', 'Pacific/Apia'));
  });

  it.each(ZONES)('follows the one before without a gap in %s', (zone) => {
    let day = '2026-06-30';
    for (let n = 0; n < 366; n++) {
      const next = dayAfter(day, zone);
      expect(dayBefore(next, zone)).toBe(day);
      expect(dayOf(startOf(next, zone), zone)).toBe(next);
      expect(dayOf(startOf(next, zone) - 1, zone)).toBe(day);
      day = next;
    }
  });

  it('holds each moment that is in no other, in every zone, in the nights in which its clock changes too', () => {
    const zones = fc.constantFrom(...Intl.supportedValuesOf('timeZone'), 'UTC');
    const moments = fc.integer({ min: at('1900-01-01T00:00Z'), max: at('2100-01-01T00:00Z') });
    const beside = fc.integer({ min: -4 * HOUR_MS, max: 30 * HOUR_MS });
    fc.assert(
      fc.property(zones, moments, fc.boolean(), beside, (zone, moment, isAtChange, by) => {
        const change = Temporal.Instant.fromEpochMilliseconds(moment)
          .toZonedDateTimeISO(zone)
          .getTimeZoneTransition('next');
        const time = isAtChange && change ? change.epochMilliseconds + by : moment;
        const day = dayOf(time, zone);
        const [start, end] = [startOf(day, zone), startOf(dayAfter(day, zone), zone)];
        expect(start).toBeLessThanOrEqual(time);
        expect(end).toBeGreaterThan(time);
        expect(isDayIn(day, zone)).toBe(true);
        expect(dayBefore(dayAfter(day, zone), zone)).toBe(day);
        expect([dayOf(start, zone), dayOf(end - 1, zone)]).toEqual([day, day]);
        expect([dayOf(start - 1, zone), dayOf(end, zone)]).toEqual([
          dayBefore(day, zone),
          dayAfter(day, zone),
        ]);
      }),
      { numRuns: 300 },
    );
  }, 120_000);
});

describe('a zone', () => {
  it.each(['UTC', 'Europe/Berlin', 'Asia/Kathmandu'])('that is known is itself: %s', (zone) => {
    expect([isKnownZone(zone), knownZone(zone)]).toEqual([true, zone]);
  });

  it.each(['Mars/Olympus', '', 'Europe/Berlin ', 'null'])('that is not known is UTC: "%s"', (zone) => {
    expect([isKnownZone(zone), knownZone(zone)]).toEqual([false, 'UTC']);
  });
});
