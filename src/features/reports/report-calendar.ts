import { clockTimeOn, dayAfter, dayBefore, dayOf } from '../../platform/kernel/local-day.js';

/** When reports are made. */
export interface ReportSchedule {
  schedule: 'daily' | 'on-demand';
  /** HH:MM. */
  time: string;
}

/** So many missed days are made up for; older ones can be asked for. */
export const MOST_MADE_UP = 31;

/** When the next report is made after this moment; null when none is made by itself. */
export function nextRun({ schedule, time }: ReportSchedule, zone: string, after: number): number | null {
  if (schedule === 'on-demand') return null;
  for (let day = dayBefore(dayOf(after, zone), zone); ; day = dayAfter(day, zone)) {
    const run = clockTimeOn(day, time, zone);
    if (run > after) return run;
  }
}

/** The latest day whose report was to be made by now. */
export function lastDueDay({ time }: Pick<ReportSchedule, 'time'>, zone: string, now: number): string {
  let made = dayOf(now, zone);
  while (clockTimeOn(made, time, zone) > now) made = dayBefore(made, zone);
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
