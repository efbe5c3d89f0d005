import { describe, expect, it } from 'vitest';
import { endOfQuietHours, nextDigest } from '../../src/features/notifications/notification-choice.js';
import { inWords } from '../../src/platform/kernel/local-day.js';

const NIGHT = { from: '22:00', to: '07:00' };
const at = (text: string) => Date.parse(text);
const iso = (instant: number | undefined) => instant && new Date(instant).toISOString();

describe('the end of quiet hours', () => {
  it.each([
    // Berlin is UTC+1 in winter.
    ['in the evening', '2026-02-18T22:30:00Z', NIGHT, 'Europe/Berlin', '2026-02-19T06:00:00.000Z'],
    ['in the morning', '2026-02-19T05:59:59.999Z', NIGHT, 'Europe/Berlin', '2026-02-19T06:00:00.000Z'],
    ['as they begin', '2026-02-18T21:00:00Z', NIGHT, 'Europe/Berlin', '2026-02-19T06:00:00.000Z'],
    [
      'by day',
      '2026-02-19T11:00:00Z',
      { from: '12:00', to: '13:00' },
      'Europe/Berlin',
      '2026-02-19T12:00:00.000Z',
    ],
    // The night in which the clock is set forward, and the one in which it is set back.
    ['over the skipped hour', '2026-03-28T22:00:00Z', NIGHT, 'Europe/Berlin', '2026-03-29T05:00:00.000Z'],
    ['over the repeated hour', '2026-10-24T21:00:00Z', NIGHT, 'Europe/Berlin', '2026-10-25T06:00:00.000Z'],
    [
      'in the skipped hour',
      '2026-03-29T00:30:00Z',
      { from: '22:00', to: '02:30' },
      'Europe/Berlin',
      '2026-03-29T01:00:00.000Z',
    ],
    [
      'in the repeated hour',
      '2026-10-25T00:10:00Z',
      { from: '22:00', to: '02:30' },
      'Europe/Berlin',
      '2026-10-25T00:30:00.000Z',
    ],
    [
      'half an hour of saving',
      '2026-10-03T13:00:00Z',
      NIGHT,
      'Australia/Lord_Howe',
      '2026-10-03T20:00:00.000Z',
    ],
    [
      'in a zone that nobody knows',
      '2026-02-18T22:30:00Z',
      NIGHT,
      'Mars/Olympus',
      '2026-02-19T07:00:00.000Z',
    ],
  ])('%s', (_what, now, hours, zone, end) => {
    expect(iso(endOfQuietHours(at(now), hours, zone))).toBe(end);
  });

  it.each([
    ['as they end', '2026-02-19T06:00:00Z', NIGHT],
    ['before they begin', '2026-02-18T20:59:59.999Z', NIGHT],
    ['in the hour that is shown again', '2026-10-25T01:10:00Z', { from: '22:00', to: '02:30' }],
    ['without any', '2026-02-18T23:00:00Z', null],
  ])('is not asked for %s', (_what, now, hours) => {
    expect(endOfQuietHours(at(now), hours, 'Europe/Berlin')).toBeUndefined();
  });
});

describe('the next digest', () => {
  it.each([
    ['in the morning', '2026-02-18T06:59:00Z', null, 'Europe/Berlin', '2026-02-18T07:00:00.000Z'],
    ['on the next day', '2026-02-18T07:00:00Z', null, 'Europe/Berlin', '2026-02-19T07:00:00.000Z'],
    ['as quiet hours end', '2026-02-18T12:00:00Z', NIGHT, 'Europe/Berlin', '2026-02-19T06:00:00.000Z'],
    [
      'over a day that does not exist',
      '2011-12-29T20:00:00Z',
      null,
      'Pacific/Apia',
      '2011-12-30T18:00:00.000Z',
    ],
  ])('%s', (_what, now, hours, zone, due) => {
    expect(iso(nextDigest(at(now), hours, zone))).toBe(due);
  });

  it('comes once a local day, in every zone and on each day of a year', () => {
    for (const zone of [
      'Europe/Berlin',
      'America/New_York',
      'Africa/Cairo',
      'Asia/Kolkata',
      'Pacific/Chatham',
    ]) {
      let now = at('2026-01-01T00:00:00Z');
      const days = new Set<string>();
      for (let day = 0; day < 365; day++) {
        now = nextDigest(now, { from: '23:30', to: '00:30' }, zone);
        days.add(new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' }).format(now));
      }
      expect([zone, days.size]).toEqual([zone, 365]);
    }
  });
});

describe('a moment in words', () => {
  it.each([
    [
      '2026-02-18T12:00:00Z',
      'Europe/Vienna',
      'Wednesday, 18 February 2026 at 13:00 (Europe/Vienna, UTC+01:00)',
    ],
    ['2026-10-25T00:30:00Z', 'Europe/Vienna', 'Sunday, 25 October 2026 at 02:30 (Europe/Vienna, UTC+02:00)'],
    ['2026-10-25T01:30:00Z', 'Europe/Vienna', 'Sunday, 25 October 2026 at 02:30 (Europe/Vienna, UTC+01:00)'],
    ['2026-02-18T00:00:00Z', 'UTC', 'Wednesday, 18 February 2026 at 00:00 (UTC)'],
  ])('%s in %s', (moment, zone, words) => {
    expect(inWords(at(moment), zone)).toBe(words);
  });
});
