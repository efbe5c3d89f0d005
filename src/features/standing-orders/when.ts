import { Temporal } from 'temporal-polyfill';
import { WEEKDAYS, type OrderWhen, type Presence } from './standing-order.js';

/**
 * Whether an order applies at this moment. `doubt` is the answer when its window cannot be computed, for want of a
 * zone or because this machine does not know it.
 */
export function appliesAt(when: OrderWhen, at: number, presence: Presence, doubt: boolean): boolean {
  if (when.presence && !when.presence.includes(presence)) return false;
  if (!when.days && !when.from && !when.to) return true;
  try {
    return windowContains(when, furthestReading(at, when.timezone ?? ''));
  } catch {
    return doubt;
  }
}

/** When the order applies for the first time from `at` on, as far as its days and hours go: `at` itself within its window. */
export function firstOpening(when: OrderWhen, at: number): number {
  const { days, from, to } = when;
  if (!days && !from && !to) return at;
  const timeZone = when.timezone ?? 'UTC';
  if (appliesAt({ days, from, to, timezone: timeZone }, at, 'present', true)) return at;
  const today = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone).toPlainDate();
  const openings = Array.from({ length: 8 }, (_, ahead) => today.add({ days: ahead }))
    .filter((date) => !days || days.includes(WEEKDAYS[date.dayOfWeek - 1]!))
    .map((date) => date.toZonedDateTime({ timeZone, plainTime: from ?? '00:00' }).epochMilliseconds);
  return openings.find((opening) => opening >= at) ?? Infinity;
}

/**
 * The window opens on each of `days` at `from` and closes, half open, at `to`: the next day when `to` is not later
 * than `from`. Without times it is the whole day.
 */
function windowContains({ days, from, to }: OrderWhen, reading: Temporal.PlainDateTime): boolean {
  const opens = from ?? '00:00';
  const closes = to ?? '00:00';
  const time = reading.toPlainTime().toString().slice(0, 'HH:MM'.length);
  const today = reading.dayOfWeek - 1;
  const isFor = (day: number) => !days || days.includes(WEEKDAYS[day]!);

  if (opens < closes) return isFor(today) && opens <= time && time < closes;
  const yesterday = (today + 6) % 7;
  return (isFor(today) && opens <= time) || (isFor(yesterday) && time < closes);
}

/**
 * The latest date and time that the clock of the zone has shown by then. It is what the clock shows, except while an
 * hour is repeated: then it stays where it was before the clock was set back. So a window is one stretch of time: one
 * that closed at 02:30 does not open again in the second 02:00 to 02:30, and where 02:30 is skipped it closes as the
 * clock jumps. (Temporal's own choice, 03:30 for a skipped 02:30, would keep it open until the clock shows 03:30.)
 */
function furthestReading(at: number, zone: string): Temporal.PlainDateTime {
  const now = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);
  const shown = now.toPlainDateTime();
  const firstShown = shown.toZonedDateTime(zone, { disambiguation: 'earlier' });
  if (firstShown.epochMilliseconds === at) return shown;
  // "Previous" means before, and now may be the very moment at which the clock is set back.
  const setBack = now.add({ milliseconds: 1 }).getTimeZoneTransition('previous')!;
  return setBack.subtract({ milliseconds: 1 }).toPlainDateTime();
}
