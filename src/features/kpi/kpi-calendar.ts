import { Temporal } from 'temporal-polyfill';
import { dayOf, knownZone, startOf } from '../../platform/kernel/local-day.js';

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
 * What `at` makes of the calendar. Every time is a quarter of an hour of UTC, since every zone differs from it by quarters of
 * hours. A zone that this program does not know counts as UTC.
 */
export function kpiCalendar(at: number, zone: string): KpiCalendar {
  const timeZone = knownZone(zone);
  const today = Temporal.PlainDate.from(dayOf(at, timeZone));
  const start = (date: Temporal.PlainDate) => startOf(date.toString(), timeZone);
  const starts = Array.from({ length: 2 * SPARKLINE_DAYS + 1 }, (_, index) =>
    start(today.add({ days: index + 1 - 2 * SPARKLINE_DAYS })),
  );
  const to = starts.at(-1)!;
  const monday = today.subtract({ days: today.dayOfWeek - 1 });
  const sameTime = weekBefore(at, timeZone, start(today.subtract({ days: WEEK })));
  return {
    days: starts.slice(0, -1).map((from, index) => ({ from, to: starts[index + 1]! })),
    week: { from: start(monday), to },
    weekBefore: { from: start(monday.subtract({ days: WEEK })), to: sameTime },
    sevenDays: { from: start(today.subtract({ days: WEEK - 1 })), to },
    sevenDaysBefore: { from: start(today.subtract({ days: 2 * WEEK - 1 })), to: sameTime },
  };
}

/** When the clock showed this quarter of an hour a week ago; on that day also while the clock is set back over midnight. */
function weekBefore(at: number, zone: string, startOfThatDay: number): number {
  const now = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);
  const weekAgo = now.subtract({ days: WEEK }).epochMilliseconds;
  return Math.max(startOfThatDay, weekAgo - (weekAgo % QUARTER_MS));
}

/** What is counted for the tiles; the database counts it by app.counts_of. */
export type FigureKind = 'team_revenue' | 'executed' | 'pending' | 'cost' | 'evals' | 'actions';

/** A stretch of time over which one kind is added up. */
export interface Window extends Stretch {
  kind: FigureKind;
  name: string;
}

/** How the sums over some windows are put together; each begins and ends with a quarter of an hour. */
export interface Reading {
  /** Every beginning and end of a window, ascending: what lies between two of them is in the same windows. */
  borders: number[];
  /** Since when each kind is read. */
  kinds: { kind: FigureKind; since: number }[];
  /** A window as the stretches between borders, counted from one as `width_bucket` does: from `first` to before `end`. */
  stretches: { kind: FigureKind; first: number; end: number }[];
}

export function readingOf(windows: readonly Window[]): Reading {
  const borders = [...new Set(windows.flatMap(({ from, to }) => [from, to]))].toSorted((a, b) => a - b);
  const numberOf = new Map(borders.map((at, index) => [at, index + 1]));
  const since = new Map<FigureKind, number>();
  for (const { kind, from } of windows) since.set(kind, Math.min(from, since.get(kind) ?? from));
  return {
    borders,
    kinds: [...since].map(([kind, from]) => ({ kind, since: from })),
    stretches: windows.map(({ kind, from, to }) => ({
      kind,
      first: numberOf.get(from)!,
      end: numberOf.get(to)!,
    })),
  };
}
