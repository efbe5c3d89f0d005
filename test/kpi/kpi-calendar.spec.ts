import { describe, expect, it } from 'vitest';
import { kpiCalendar, readingOf, type Window } from '../../src/features/kpi/kpi-calendar.js';
import { changePercent } from '../../src/features/kpi/kpi.service.js';

const HOUR_MS = 3_600_000;
const QUARTER_MS = HOUR_MS / 4;
const at = Date.parse;

/** How many hours each of the last days had. */
function hours(zone: string, now: string, days: number): number[] {
  return kpiCalendar(at(now), zone)
    .days.slice(-days)
    .map(({ from, to }) => (to - from) / HOUR_MS);
}

describe('the calendar of the tiles', () => {
  it.each([
    ['Europe/Berlin', '2027-03-28T10:00:00Z', [24, 23]],
    ['Europe/Berlin', '2026-10-25T10:00:00Z', [24, 25]],
    ['Australia/Lord_Howe', '2026-10-04T10:00:00Z', [24, 23.5]],
    ['Australia/Lord_Howe', '2026-04-05T10:00:00Z', [24, 24.5]],
    ['Africa/Cairo', '2026-04-24T10:00:00Z', [24, 23]],
    ['Asia/Kathmandu', '2026-05-14T10:00:00Z', [24, 24]],
    // 30 December 2011 does not exist there.
    ['Pacific/Apia', '2011-12-31T00:00:00Z', [24, 0, 24]],
    // The clock shows the first hour of the day twice.
    ['America/Havana', '2026-11-01T16:00:00Z', [24, 25]],
    // The clock was set back from 00:01 to 23:01, and the new day goes on.
    ['America/St_Johns', '2010-11-07T02:45:00Z', [24, 25]],
  ])('knows how long the days of %s are at %s', (zone, now, expected) => {
    expect(hours(zone, now, expected.length)).toEqual(expected);
  });

  it('begins the week on Monday, and compares it with as much of the one before', () => {
    // A Thursday, 17:44 in Kathmandu.
    const { week, weekBefore, sevenDays, sevenDaysBefore, days } = kpiCalendar(
      at('2026-05-14T11:59:59.999Z'),
      'Asia/Kathmandu',
    );
    const day = (from: string, to: string) => ({ from: at(from), to: at(to) });
    expect(week).toEqual(day('2026-05-10T18:15:00Z', '2026-05-14T18:15:00Z'));
    expect(weekBefore).toEqual(day('2026-05-03T18:15:00Z', '2026-05-07T11:45:00Z'));
    expect(sevenDays).toEqual(day('2026-05-07T18:15:00Z', '2026-05-14T18:15:00Z'));
    expect(sevenDaysBefore).toEqual(day('2026-04-30T18:15:00Z', '2026-05-07T11:45:00Z'));
    expect(days.at(-1)).toEqual(day('2026-05-13T18:15:00Z', '2026-05-14T18:15:00Z'));
  });

  it('compares the hour in which the clock was set back over midnight with the beginning of that day a week before', () => {
    const now = at('2010-11-07T02:45:00Z');
    const { days, sevenDays, sevenDaysBefore } = kpiCalendar(now, 'America/St_Johns');
    expect(days.at(-1)!.from).toBeLessThanOrEqual(now);
    expect(sevenDays.from).toBe(at('2010-11-01T02:30:00Z'));
    expect(sevenDaysBefore).toEqual({ from: at('2010-10-25T02:30:00Z'), to: at('2010-10-31T02:30:00Z') });
  });

  it('takes a zone that this machine does not know for UTC', () => {
    const now = at('2026-05-14T12:00:00Z');
    expect(kpiCalendar(now, 'Mars/Olympus')).toEqual(kpiCalendar(now, 'UTC'));
  });

  it(
    'knows no time but quarters of hours, in any zone on any day of two years; no day is left out',
    { timeout: 120_000 },
    () => {
      const zones = [...Intl.supportedValuesOf('timeZone'), 'UTC'];
      for (const [index, zone] of zones.entries()) {
        // Every zone at some times of the years, each with the 60 days before.
        for (let month = 0; month < 24; month += 5) {
          const now = Date.UTC(2026, month, 28, index % 24, index % 60, 59, 999);
          const { days, ...others } = kpiCalendar(now, zone);
          const times = [...days, ...Object.values(others)].flatMap(({ from, to }) => [from, to]);
          expect(
            times.filter((time) => time % QUARTER_MS !== 0),
            `${zone} ${month}`,
          ).toEqual([]);
          expect(days).toHaveLength(60);
          expect(days.slice(1).every(({ from }, before) => from === days[before]!.to)).toBe(true);
          expect(days.at(-1)!.from <= now && now < days.at(-1)!.to, `${zone} ${month}`).toBe(true);
          expect(others.weekBefore.to).toBeLessThanOrEqual(others.week.from + 7 * 24 * HOUR_MS);
        }
      }
    },
  );
});

describe('the windows over the figures', () => {
  it('are read between their borders, each kind since its first', () => {
    const windows: Window[] = [
      { kind: 'executed', name: 'a', from: at('2026-05-13T18:15:00Z'), to: at('2026-05-14T18:15:00Z') },
      { kind: 'executed', name: 'b', from: at('2026-05-14T10:00:00Z'), to: at('2026-05-14T18:15:00Z') },
      { kind: 'evals', name: 'c', from: at('2026-05-13T18:15:00Z'), to: at('2026-05-14T10:00:00Z') },
    ];
    const { borders, kinds, stretches } = readingOf(windows);
    expect(borders).toEqual([
      at('2026-05-13T18:15:00Z'),
      at('2026-05-14T10:00:00Z'),
      at('2026-05-14T18:15:00Z'),
    ]);
    expect(kinds).toEqual([
      { kind: 'executed', since: borders[0] },
      { kind: 'evals', since: borders[0] },
    ]);
    expect(stretches.map(({ first, end }) => [first, end])).toEqual([
      [1, 3],
      [2, 3],
      [1, 2],
    ]);
  });
});

describe('the change in percent', () => {
  it.each([
    [150, 100, 50],
    [50, 100, -50],
    [0, 3, -100],
    [1, 3, -66.7],
    [100, -50, 300],
    [-100, -50, -100],
    [5, 0, null],
    [0, 0, null],
    [null, 3, null],
    [3, null, null],
    [99.99, 100, 0],
  ])('from %s, before %s, is %s', (value, before, expected) => {
    expect(changePercent(value, before)).toBe(expected);
  });
});
