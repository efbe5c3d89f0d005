import { Temporal } from 'temporal-polyfill';
import { WEEKDAYS, type OrderWhen, type Presence } from './standing-order.js';

/**
 * Whether an order speaks at this moment. `doubt` is the answer when its window cannot be computed, for want of a
 * zone or because this machine does not know it.
 */
export function speaksAt(when: OrderWhen, at: number, presence: Presence, doubt: boolean): boolean {
  if (when.presence && !when.presence.includes(presence)) return false;
  if (!when.days && !when.from && !when.to) return true;
  try {
    return windowContains(when, at);
  } catch {
    return doubt;
  }
}

/**
 * The window opens on each of `days` at `from` and closes, half open, at `to`: the next day when `to` is not later
 * than `from`. Without times it is the whole day. Both ends are instants, not clock readings, so that a window which
 * closes at 02:30 does not open again when the clock is set back from 03:00 to 02:00.
 */
function windowContains(when: OrderWhen, at: number): boolean {
  const zone = when.timezone ?? '';
  const from = Temporal.PlainTime.from(when.from ?? '00:00');
  const to = Temporal.PlainTime.from(when.to ?? '00:00');
  const overnight = Temporal.PlainTime.compare(to, from) <= 0;
  const today = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate();

  // Yesterday's window may still be open; and where clocks go back over midnight, tomorrow's already is.
  return [-1, 0, 1].some((days) => {
    const day = today.add({ days });
    if (when.days && !when.days.includes(WEEKDAYS[day.dayOfWeek - 1]!)) return false;
    const closingDay = overnight ? day.add({ days: 1 }) : day;
    return firstInstant(day, from, zone) <= at && at < firstInstant(closingDay, to, zone);
  });
}

/**
 * The first instant of the day at which the clock shows `time` or later: the first of two, and the moment the clock
 * jumps when it jumps over `time`. (Temporal's own choice, 03:30 for a skipped 02:30, would let a window that ends
 * at 02:30 run until the clock shows 03:30.)
 */
function firstInstant(day: Temporal.PlainDate, time: Temporal.PlainTime, zone: string): number {
  const wanted = day.toPlainDateTime(time);
  const found = wanted.toZonedDateTime(zone, { disambiguation: 'earlier' });
  const skipped = !found.toPlainDateTime().equals(wanted);
  return (skipped ? found.getTimeZoneTransition('next')! : found).epochMilliseconds;
}
