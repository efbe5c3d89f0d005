import { Temporal } from 'temporal-polyfill';
import {
  clockTimeOn,
  dayAfter,
  dayBefore,
  dayOf,
  isDayIn,
  knownZone,
} from '../../platform/kernel/local-day.js';
import { WEEKDAYS, type Weekday } from '../standing-orders/index.js';

export const PERIODS = ['day', 'week', 'month'] as const;
export type Period = (typeof PERIODS)[number];

/** When a schedule is due. */
export interface ScheduleRule {
  every: Period;
  /** The day of the week, or of the month (1 to 31); none where every day counts. */
  on?: Weekday | number;
  /** HH:MM as the clock of the zone shows it. */
  at: string;
  timezone: string;
}

/** The first due time after this moment; Unix milliseconds, as everywhere here. */
export function nextDue(rule: ScheduleRule, after: number): number {
  const zone = knownZone(rule.timezone);
  // A skipped time may move a due time, and a repeated hour the day: both by less than the day that is looked at besides.
  for (let day = dayBefore(dayOf(after, zone), zone); ; day = dayAfter(day, zone)) {
    if (!isDueOn(rule, day, zone)) continue;
    const due = clockTimeOn(day, rule.at, zone);
    if (due > after) return due;
  }
}

/** The last due time up to this moment. */
export function lastDue(rule: ScheduleRule, until: number): number {
  const zone = knownZone(rule.timezone);
  for (let day = dayAfter(dayOf(until, zone), zone); ; day = dayBefore(day, zone)) {
    if (!isDueOn(rule, day, zone)) continue;
    const due = clockTimeOn(day, rule.at, zone);
    if (due <= until) return due;
  }
}

function isDueOn({ every, on }: ScheduleRule, day: string, zone: string): boolean {
  if (every === 'day') return true;
  const date = Temporal.PlainDate.from(day);
  if (every === 'week') return WEEKDAYS[date.dayOfWeek - 1] === on;
  // In a month without this day it is the last one before it: also where the zone has skipped the day.
  const wanted = date.with({ day: Number(on) }).toString();
  return day === (isDayIn(wanted, zone) ? wanted : dayBefore(wanted, zone));
}
