import { describe, expect, it } from 'vitest';
import { lastDue, nextDue, type ScheduleRule } from '../../src/features/schedules/schedule-rule.js';
import { ZONES } from '../support/zones.js';

const HOUR_MS = 3_600_000;
const at = (text: string) => Date.parse(text);
const iso = (ms: number) => new Date(ms).toISOString().replace(':00.000Z', 'Z');

/** The first due times after a moment. */
function dues(rule: ScheduleRule, after: string, count: number): string[] {
  const all: number[] = [];
  for (let due = at(after); all.length < count;) all.push((due = nextDue(rule, due)));
  return all.map(iso);
}

const daily = (time: string, timezone: string): ScheduleRule => ({ every: 'day', at: time, timezone });

describe('a day on which clocks change (QUALITY, Daylight saving)', () => {
  it.each([
    // 02:30 is skipped, and is due as long after midnight as if it were not.
    [
      'Europe/Berlin',
      '02:30',
      '2027-03-26T12:00Z',
      ['2027-03-27T01:30Z', '2027-03-28T01:30Z', '2027-03-29T00:30Z'],
    ],
    // 02:30 is shown twice; the first counts.
    [
      'Europe/Berlin',
      '02:30',
      '2026-10-23T12:00Z',
      ['2026-10-24T00:30Z', '2026-10-25T00:30Z', '2026-10-26T01:30Z'],
    ],
    // Half an hour, in the south.
    [
      'Australia/Lord_Howe',
      '02:15',
      '2026-10-02T12:00Z',
      ['2026-10-02T15:45Z', '2026-10-03T15:45Z', '2026-10-04T15:15Z'],
    ],
    [
      'Australia/Lord_Howe',
      '01:45',
      '2027-04-02T12:00Z',
      ['2027-04-02T14:45Z', '2027-04-03T14:45Z', '2027-04-04T15:15Z'],
    ],
    // Midnight itself is skipped.
    [
      'Africa/Cairo',
      '00:00',
      '2027-04-28T12:00Z',
      ['2027-04-28T22:00Z', '2027-04-29T22:00Z', '2027-04-30T21:00Z'],
    ],
    [
      'Africa/Cairo',
      '23:30',
      '2026-10-28T12:00Z',
      ['2026-10-28T20:30Z', '2026-10-29T20:30Z', '2026-10-30T21:30Z'],
    ],
    // A day that the zone does not have: 30 December 2011.
    [
      'Pacific/Apia',
      '09:00',
      '2011-12-28T00:00Z',
      ['2011-12-28T19:00Z', '2011-12-29T19:00Z', '2011-12-30T19:00Z'],
    ],
  ])('%s at %s from %s', (zone, time, after, expected) => {
    expect(dues(daily(time, zone), after, 3)).toEqual(expected);
  });
});

describe('a week and a month', () => {
  it.each<[string, ScheduleRule, string, string[]]>([
    [
      'the day of the week as the zone has it',
      { every: 'week', on: 'mon', at: '00:30', timezone: 'Pacific/Auckland' },
      '2026-02-18T00:00Z',
      ['2026-02-22T11:30Z', '2026-03-01T11:30Z'],
    ],
    [
      'the last day of each shorter month for 31',
      { every: 'month', on: 31, at: '12:00', timezone: 'UTC' },
      '2027-12-31T12:00Z',
      ['2028-01-31T12:00Z', '2028-02-29T12:00Z', '2028-03-31T12:00Z', '2028-04-30T12:00Z'],
    ],
    [
      'the last day of February for 29',
      { every: 'month', on: 29, at: '12:00', timezone: 'UTC' },
      '2027-01-29T12:00Z',
      ['2027-02-28T12:00Z', '2027-03-29T12:00Z'],
    ],
    [
      'the day before one that the zone has skipped',
      { every: 'month', on: 30, at: '09:00', timezone: 'Pacific/Apia' },
      '2011-12-01T00:00Z',
      ['2011-12-29T19:00Z', '2012-01-29T19:00Z'],
    ],
    [
      'none in a week whose day the zone has skipped',
      { every: 'week', on: 'fri', at: '09:00', timezone: 'Pacific/Apia' },
      '2011-12-20T00:00Z',
      ['2011-12-23T19:00Z', '2012-01-05T19:00Z'],
    ],
  ])('%s', (_what, rule, after, expected) => {
    expect(dues(rule, after, expected.length)).toEqual(expected);
  });
});

it('goes by UTC in a zone that nobody knows any more', () => {
  expect(dues(daily('09:00', 'Mars/Olympus'), '2026-02-18T00:00Z', 1)).toEqual(['2026-02-18T09:00Z']);
});

it.each(ZONES)(
  'is due once a day for a year in %s, and the last due time is the one that was next',
  (zone) => {
    const format = new Intl.DateTimeFormat('en-CA', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    });
    for (const time of ['00:00', '01:45', '02:30', '23:59']) {
      const rule = daily(time, zone);
      const begin = at('2026-02-18T12:00:00Z');
      const end = begin + 366 * 24 * HOUR_MS;
      const shown = new Set<string>();
      for (let moment = begin; moment <= end; moment += HOUR_MS / 4) shown.add(format.format(moment));
      const all: number[] = [];
      for (let due = nextDue(rule, begin); due <= end; due = nextDue(rule, due)) {
        expect(lastDue(rule, due)).toBe(due);
        if (all.length > 0) expect(lastDue(rule, due - 1)).toBe(all.at(-1));
        all.push(due);
      }
      const days = all.map((due) => format.format(due));
      // A skipped midnight is due with the first moment of its day.
      expect(new Set(days).size, time).toBe(days.length);
      expect(days.length).toBeGreaterThanOrEqual(shown.size - 2);
    }
  },
);
