import { Temporal } from 'temporal-polyfill';

/**
 * Days as the clock of a zone shows them, each written YYYY-MM-DD. A day begins with its first moment: at the first of two
 * midnights, and where midnight is skipped with the first time that the clock shows. It lasts until the next day begins, so
 * every moment is in exactly one: where the clock is set back over midnight, the new day goes on. The database says the same
 * (app.day_of, app.day_start).
 */

/** Whether this program knows the zone. */
export function isKnownZone(zone: string): boolean {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone);
    return true;
  } catch {
    return false;
  }
}

/**
 * The zone, or UTC where this program does not know it. A zone is checked as it is stored; one that an update has dropped since
 * must keep nothing from being made or told. What reads a zone from the database asks it in the same way (app.zone_or_utc).
 */
export function knownZone(zone: string): string {
  return isKnownZone(zone) ? zone : 'UTC';
}

/** The day that it is at this moment, Unix milliseconds. */
export function dayOf(at: number, zone: string): string {
  let day = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate();
  for (let next = startBeside(day, zone, 1); next.epochMilliseconds <= at; next = startBeside(day, zone, 1))
    day = next.toPlainDate();
  return day.toString();
}

/** When the day begins, Unix milliseconds; of a day that the zone skipped, when the one after it does. */
export function startOf(date: string, zone: string): number {
  return startOfDay(Temporal.PlainDate.from(date), zone).epochMilliseconds;
}

/** Whether the calendar of the zone has the day: Pacific/Apia has no 30 December 2011. */
export function isDayIn(date: string, zone: string): boolean {
  const day = Temporal.PlainDate.from(date);
  return startOfDay(day, zone).toPlainDate().equals(day);
}

/** The next day that the zone has. */
export function dayAfter(date: string, zone: string): string {
  return startBeside(Temporal.PlainDate.from(date), zone, 1).toPlainDate().toString();
}

/** The last day before it that the zone has. */
export function dayBefore(date: string, zone: string): string {
  return startBeside(Temporal.PlainDate.from(date), zone, -1).toPlainDate().toString();
}

/**
 * When the clock of the zone shows this time (HH:MM) on this day, Unix milliseconds: the first time where it is repeated, and where
 * it is skipped as long after midnight as if it were not.
 */
export function clockTimeOn(date: string, time: string, zone: string): number {
  const local = Temporal.PlainDate.from(date).toPlainDateTime(Temporal.PlainTime.from(time));
  return local.toZonedDateTime(zone, { disambiguation: 'compatible' }).epochMilliseconds;
}

/** What the clock of the zone shows at this moment, to the minute: the inverse of {@link clockTimeOn}. */
export function timeOnClock(at: number, zone: string): string {
  const shown = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDateTime();
  return shown.toString({ smallestUnit: 'minute' });
}

/** Of the next day that the zone has, or of the last before. */
function startBeside(date: Temporal.PlainDate, zone: string, step: 1 | -1): Temporal.ZonedDateTime {
  let day = date.add({ days: step });
  let start = startOfDay(day, zone);
  while (!start.toPlainDate().equals(day)) {
    day = day.add({ days: step });
    start = startOfDay(day, zone);
  }
  return start;
}

function startOfDay(day: Temporal.PlainDate, zone: string): Temporal.ZonedDateTime {
  return day.toZonedDateTime(zone);
}

/** A moment for a person: the day, the time and how far the zone is from UTC, so that a repeated hour is no riddle. */
export function inWords(at: number, zone: string): string {
  const timeZone = knownZone(zone);
  const part = partsIn(at, timeZone);
  const offset = part('timeZoneName').replace('GMT', 'UTC');
  return `${momentIn(at, zone)} (${timeZone === 'UTC' ? 'UTC' : `${timeZone}, ${offset}`})`;
}

/** {@link inWords} where the zone is named once for all. */
export function momentIn(at: number, zone: string): string {
  const part = partsIn(at, knownZone(zone));
  const date = `${part('weekday')}, ${part('day')} ${part('month')} ${part('year')}`;
  return `${date} at ${part('hour')}:${part('minute')}`;
}

function partsIn(at: number, timeZone: string): (type: string) => string {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'longOffset',
  }).formatToParts(at);
  return (type) => parts.find((one) => one.type === type)?.value ?? '';
}
