import { Temporal } from 'temporal-polyfill';
import { dayOf, knownZone, startOf } from '../../platform/kernel/local-day.js';
import type { BudgetWindow } from './standing-order.js';

/**
 * When the calendar window began in which `at` lies, in Unix milliseconds: a day, week or month of the zone, as
 * `app.window_start` of the database has it. A week begins on Monday. A zone that this program does not know counts as UTC.
 */
export function startOfWindow(window: BudgetWindow, at: number, zone: string): number {
  const { first, timeZone } = windowOf(window, at, zone);
  return startOf(first.toString(), timeZone);
}

/** When that window is over: where the next one begins. */
export function endOfWindow(window: BudgetWindow, at: number, zone: string): number {
  const { first, timeZone } = windowOf(window, at, zone);
  return startOf(first.add(LENGTHS[window]).toString(), timeZone);
}

const LENGTHS = { day: { days: 1 }, week: { weeks: 1 }, month: { months: 1 } } as const;

/** The first day of the window. */
function windowOf(window: BudgetWindow, at: number, zone: string) {
  const timeZone = knownZone(zone);
  const today = Temporal.PlainDate.from(dayOf(at, timeZone));
  const first = {
    day: () => today,
    week: () => today.subtract({ days: today.dayOfWeek - 1 }),
    month: () => today.with({ day: 1 }),
  }[window]();
  return { first, timeZone };
}
