import { Temporal } from 'temporal-polyfill';
import type { BudgetWindow } from './standing-order.js';

/**
 * When the calendar window in which `at` lies is over, in Unix milliseconds: where the next day, week or month of the zone
 * begins. A week begins on Monday, as for `date_trunc`. Where the clock skips midnight a day begins with the first time it
 * shows, and where it shows midnight twice, with the first of the two. A zone that this machine does not know counts as
 * UTC, as it does for the database.
 */
export function endOfWindow(window: BudgetWindow, at: number, zone: string): number {
  const instant = Temporal.Instant.fromEpochMilliseconds(at);
  let now: Temporal.ZonedDateTime;
  try {
    now = instant.toZonedDateTimeISO(zone);
  } catch {
    now = instant.toZonedDateTimeISO('UTC');
  }
  const today = now.toPlainDate();
  const next = {
    day: () => today.add({ days: 1 }),
    week: () => today.add({ days: 8 - today.dayOfWeek }),
    month: () => today.with({ day: 1 }).add({ months: 1 }),
  }[window]();
  return next.toZonedDateTime(now.timeZoneId).epochMilliseconds;
}
