import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { dueDays, lastDueDay, MOST_MADE_UP, nextRun } from '../../src/features/reports/report.js';
import { clockTimeOn, dayAfter, dayOf, startOf } from '../../src/platform/kernel/local-day.js';
import { ZONES } from '../support/zones.js';

/** Times at which clocks change, and times at which they do not. */
const TIMES = ['00:00', '01:45', '02:30', '07:00', '23:59'];
const DAY_MS = 86_400_000;

const daily = (time: string) => ({ schedule: 'daily' as const, time });
const at = (iso: string) => Temporal.Instant.from(iso).epochMilliseconds;
const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());

/** All runs from one moment to another. */
function runs(time: string, zone: string, from: number, to: number): number[] {
  const all: number[] = [];
  for (let run = nextRun(daily(time), zone, from)!; run <= to; run = nextRun(daily(time), zone, run)!)
    all.push(run);
  return all;
}

describe('the next run', () => {
  it.each([
    ['a time that is skipped', '02:30', 'Europe/Berlin', '2027-03-27T12:00:00Z', '2027-03-28T01:30:00.000Z'],
    ['a time that is doubled', '02:30', 'Europe/Berlin', '2026-10-24T12:00:00Z', '2026-10-25T00:30:00.000Z'],
    [
      'the day after a skipped time',
      '02:30',
      'Europe/Berlin',
      '2027-03-28T01:30:00Z',
      '2027-03-29T00:30:00.000Z',
    ],
    [
      'the day after a doubled time',
      '02:30',
      'Europe/Berlin',
      '2026-10-25T00:30:00Z',
      '2026-10-26T01:30:00.000Z',
    ],
    [
      'half an hour that is skipped',
      '02:15',
      'Australia/Lord_Howe',
      '2026-10-03T12:00:00Z',
      '2026-10-03T15:45:00.000Z',
    ],
    [
      'half an hour that is doubled',
      '01:45',
      'Australia/Lord_Howe',
      '2026-04-04T12:00:00Z',
      '2026-04-04T14:45:00.000Z',
    ],
    [
      'a midnight that is skipped',
      '00:30',
      'Africa/Cairo',
      '2026-04-23T12:00:00Z',
      '2026-04-23T22:30:00.000Z',
    ],
    [
      'an hour before midnight that is doubled',
      '23:30',
      'Africa/Cairo',
      '2026-10-29T12:00:00Z',
      '2026-10-29T20:30:00.000Z',
    ],
    ['a day that is skipped', '07:00', 'Pacific/Apia', '2011-12-29T17:00:00Z', '2011-12-30T17:00:00.000Z'],
  ])('sees to %s', (_what, time, zone, after, expected) => {
    expect(iso(nextRun(daily(time), zone, at(after)))).toBe(expected);
  });

  it('comes once where the clock shows the time twice', () => {
    const doubled = runs('02:30', 'Europe/Berlin', at('2026-10-24T12:00:00Z'), at('2026-10-25T12:00:00Z'));
    expect(doubled.map(iso)).toEqual(['2026-10-25T00:30:00.000Z']);
    const skipped = runs('02:30', 'Europe/Berlin', at('2027-03-27T12:00:00Z'), at('2027-03-28T12:00:00Z'));
    expect(skipped.map(iso)).toEqual(['2027-03-28T01:30:00.000Z']);
  });

  it('never comes on demand', () => {
    expect(nextRun({ schedule: 'on-demand', time: '07:00' }, 'UTC', 0)).toBeNull();
  });

  it.each(ZONES)('comes exactly once for each of 365 days in %s', (zone) => {
    const days: string[] = [];
    for (let day = dayOf(at('2026-06-30T12:00:00Z'), zone); days.length < 365; day = dayAfter(day, zone))
      days.push(day);
    const from = startOf(days[0]!, zone);
    const to = startOf(dayAfter(days.at(-1)!, zone), zone) - 1;
    expect((to - from) / DAY_MS).toBeGreaterThan(363);
    for (const time of TIMES) {
      const all = runs(time, zone, from - 1, to);
      // A run that is skipped over midnight belongs to the day before; each has a day of its own.
      const reported = all.map((run) => lastDueDay(daily(time), zone, run));
      expect(reported.slice(1), `${zone} ${time}`).toEqual(
        reported.slice(0, -1).map((day) => dayAfter(day, zone)),
      );
      expect(new Set(reported).size, `${zone} ${time}`).toBe(365);
      expect(all, `${zone} ${time}`).toEqual(days.map((day) => clockTimeOn(day, time, zone)));
      expect(all.every((run, n) => n === 0 || run > all[n - 1]!)).toBe(true);
    }
  });
});

describe('the days that are due', () => {
  const zone = 'Europe/Berlin';

  it('are all that an outage has kept from being made', () => {
    const now = at('2026-02-20T08:00:00Z');
    expect(dueDays(daily('07:00'), zone, '2026-02-16', now)).toEqual([
      '2026-02-17',
      '2026-02-18',
      '2026-02-19',
    ]);
    expect(dueDays(daily('07:00'), zone, '2026-02-19', now)).toEqual([]);
  });

  it('leave out the one whose time has not come', () => {
    const before = at('2026-02-20T05:59:59Z');
    expect(dueDays(daily('07:00'), zone, '2026-02-18', before)).toEqual([]);
    expect(dueDays(daily('07:00'), zone, '2026-02-18', before + 1_000)).toEqual(['2026-02-19']);
  });

  it('are the latest of a very long outage', () => {
    const due = dueDays(daily('07:00'), zone, '2025-02-16', at('2026-02-20T08:00:00Z'));
    expect(due).toHaveLength(MOST_MADE_UP);
    expect(due.at(-1)).toBe('2026-02-19');
  });

  it('are none on demand', () => {
    expect(dueDays({ schedule: 'on-demand', time: '07:00' }, zone, '2026-02-16', Date.now())).toEqual([]);
  });
});
