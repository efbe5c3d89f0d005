import { Temporal } from 'temporal-polyfill';
import type { BudgetWindow } from './standing-order.js';

/**
 * When the calendar window began in which `at` lies, in Unix milliseconds: a day, week or month of the zone, counted here as by
 * `app.window_start` of the database. A week begins on Monday. Where the clock skips midnight a day begins with the first time
 * that it shows, and where it shows midnight twice, with the first of the two. A zone that this machine does not know counts
 * as UTC, as it does for the database.
 */
export function startOfWindow(window: BudgetWindow, at: number, zone: string): number {
  const { first, timeZone } = windowOf(window, at, zone);
  return first.toZonedDateTime(timeZone).epochMilliseconds;
}

/** When that window is over: where the next one begins. */
export function endOfWindow(window: BudgetWindow, at: number, zone: string): number {
  const { first, timeZone } = windowOf(window, at, zone);
  return first.add(LENGTHS[window]).toZonedDateTime(timeZone).epochMilliseconds;
}

export function isKnownZone(zone: string): boolean {
  return inZone(0, zone) !== undefined;
}

const LENGTHS = { day: { days: 1 }, week: { weeks: 1 }, month: { months: 1 } } as const;

/** The first day of the window. */
function windowOf(window: BudgetWindow, at: number, zone: string) {
  const now = inZone(at, zone) ?? inZone(at, 'UTC')!;
  const today = now.toPlainDate();
  const first = {
    day: () => today,
    week: () => today.subtract({ days: today.dayOfWeek - 1 }),
    month: () => today.with({ day: 1 }),
  }[window]();
  return { first, timeZone: now.timeZoneId };
}

function inZone(at: number, zone: string): Temporal.ZonedDateTime | undefined {
  const instant = Temporal.Instant.fromEpochMilliseconds(at);
  try {
    return instant.toZonedDateTimeISO(zone);
  } catch {
    return undefined;
  }
}
