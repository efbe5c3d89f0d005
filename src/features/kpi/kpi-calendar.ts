import { Temporal } from 'temporal-polyfill';

/** So many days a sparkline shows. */
export const SPARKLINE_DAYS = 30;
const WEEK = 7;
const QUARTER_MS = 15 * 60_000;

/** A stretch of time, Unix milliseconds; `to` is no part of it. */
export interface Stretch {
  from: number;
  to: number;
}

/** The days and weeks that the tiles speak of, as the clock of a zone shows them. */
export interface KpiCalendar {
  /** The 60 days up to today, today being the last; a sparkline shows the second half. */
  days: readonly Stretch[];
  /** Since Monday. */
  week: Stretch;
  /** From the Monday before to the same day and quarter of an hour as now. */
  weekBefore: Stretch;
  /** Today and the six days before. */
  sevenDays: Stretch;
  /** The seven days before those, up to the same quarter of an hour as now. */
  sevenDaysBefore: Stretch;
}

/**
 * What `at` makes of the calendar. A day begins where the clock first shows it: at 01:00 where midnight is skipped, at the
 * first of two midnights. Every time is a quarter of an hour of UTC, since every zone differs from it by quarters of hours.
 * A zone that this machine does not know counts as UTC, as it does for the database.
 */
export function kpiCalendar(at: number, zone: string): KpiCalendar {
  const now = inZone(at, zone);
  const today = now.toPlainDate();
  const startOf = (date: Temporal.PlainDate) => date.toZonedDateTime(now.timeZoneId).epochMilliseconds;
  const starts = Array.from({ length: 2 * SPARKLINE_DAYS + 1 }, (_, index) =>
    startOf(today.add({ days: index + 1 - 2 * SPARKLINE_DAYS })),
  );
  const to = starts.at(-1)!;
  const monday = today.subtract({ days: today.dayOfWeek - 1 });
  const weekAgo = now.subtract({ days: WEEK }).epochMilliseconds;
  const sameTime = weekAgo - (weekAgo % QUARTER_MS);
  return {
    days: starts.slice(0, -1).map((from, index) => ({ from, to: starts[index + 1]! })),
    week: { from: startOf(monday), to },
    weekBefore: { from: startOf(monday.subtract({ days: WEEK })), to: sameTime },
    sevenDays: { from: startOf(today.subtract({ days: WEEK - 1 })), to },
    sevenDaysBefore: { from: startOf(today.subtract({ days: 2 * WEEK - 1 })), to: sameTime },
  };
}

function inZone(at: number, zone: string): Temporal.ZonedDateTime {
  const instant = Temporal.Instant.fromEpochMilliseconds(at);
  try {
    return instant.toZonedDateTimeISO(zone);
  } catch {
    return instant.toZonedDateTimeISO('UTC');
  }
}
