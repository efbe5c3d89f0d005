import { Temporal } from 'temporal-polyfill';

/** When reports are made. */
export interface ReportSchedule {
  schedule: 'daily' | 'on-demand';
  /** HH:MM. */
  time: string;
}

/** So many missed days are made up for; older ones can be asked for. */
export const MOST_MADE_UP = 31;

/** A zone is checked as it is stored; one that this program has lost since must keep no report from being made. */
export function knownZone(zone: string): string {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone);
    return zone;
  } catch {
    return 'UTC';
  }
}

/** When the day begins: at the first moment of it that there is. Days follow each other without a gap. */
export function startOf(date: string, zone: string): number {
  return startOfDay(Temporal.PlainDate.from(date), zone).epochMilliseconds;
}

/** Whether the calendar of the zone has the day: Pacific/Apia has no 30 December 2011. */
export function isDayIn(date: string, zone: string): boolean {
  const day = Temporal.PlainDate.from(date);
  return startOfDay(day, zone).toPlainDate().equals(day);
}

/** The day that it is; where a clock is set back over midnight, the new day goes on. */
export function dayOf(at: number, zone: string): string {
  const shown = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate();
  const next = dayAfter(shown.toString(), zone);
  return at >= startOf(next, zone) ? next : shown.toString();
}

/** The next day that the zone has. */
export function dayAfter(date: string, zone: string): string {
  return neighbour(date, zone, 1);
}

/** The last day before it that the zone has. */
export function dayBefore(date: string, zone: string): string {
  return neighbour(date, zone, -1);
}

/**
 * When the report is made that is made on this day: as its clock shows the time for the first time, and where that time is
 * skipped as long after midnight as if it were not.
 */
export function runOn(date: string, time: string, zone: string): number {
  const local = Temporal.PlainDate.from(date).toPlainDateTime(Temporal.PlainTime.from(time));
  return local.toZonedDateTime(zone, { disambiguation: 'compatible' }).epochMilliseconds;
}

/** When the next report is made after this moment; null when none is made by itself. */
export function nextRun({ schedule, time }: ReportSchedule, zone: string, after: number): number | null {
  if (schedule === 'on-demand') return null;
  for (let day = dayBefore(dayOf(after, zone), zone); ; day = dayAfter(day, zone)) {
    const run = runOn(day, time, zone);
    if (run > after) return run;
  }
}

/** The latest day whose report was to be made by now. */
export function lastDueDay({ time }: Pick<ReportSchedule, 'time'>, zone: string, now: number): string {
  let made = dayOf(now, zone);
  while (runOn(made, time, zone) > now) made = dayBefore(made, zone);
  return dayBefore(made, zone);
}

/**
 * The days behind `last` whose reports are due now, oldest first; after a long outage the latest {@link MOST_MADE_UP} of them.
 */
export function dueDays(schedule: ReportSchedule, zone: string, last: string, now: number): string[] {
  if (schedule.schedule === 'on-demand') return [];
  const due: string[] = [];
  for (
    let day = lastDueDay(schedule, zone, now);
    day > last && due.length < MOST_MADE_UP;
    day = dayBefore(day, zone)
  )
    due.unshift(day);
  return due;
}

function startOfDay(day: Temporal.PlainDate, zone: string): Temporal.ZonedDateTime {
  return day.toZonedDateTime(zone);
}

function neighbour(date: string, zone: string, step: 1 | -1): string {
  let day = Temporal.PlainDate.from(date);
  do day = day.add({ days: step });
  while (!startOfDay(day, zone).toPlainDate().equals(day));
  return day.toString();
}
