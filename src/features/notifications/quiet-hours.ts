import { Temporal } from 'temporal-polyfill';
import { knownZone } from '../../platform/kernel/local-day.js';
import { appliesAt } from '../standing-orders/when.js';

/** HH:MM in the workspace's zone; `to` not later than `from` is on the next day. */
export interface Hours {
  from: string;
  to: string;
}

/** When a digest is mailed to somebody who has no quiet hours. */
const DIGEST_TIME = '08:00';

/**
 * When the quiet hours end that hold now; undefined when none do. As a clock is set back they do not begin again, and where the
 * hour is skipped in which they would end they end as the clock jumps.
 */
export function endOfQuietHours(at: number, hours: Hours | null, zone: string): number | undefined {
  if (hours === null) return undefined;
  const timezone = knownZone(zone);
  if (!appliesAt({ ...hours, timezone }, at, 'present', false)) return undefined;
  return nextTime(at, hours.to, timezone);
}

/** When the next digest is due: as the quiet hours end, or in the morning. */
export function nextDigest(at: number, hours: Hours | null, zone: string): number {
  return nextTime(at, hours?.to ?? DIGEST_TIME, knownZone(zone));
}

/** When the clock of the zone shows this time next, for the first time on that day. */
function nextTime(at: number, time: string, zone: string): number {
  const today = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate();
  for (let days = 0; ; days++) {
    const shown = firstShown(today.add({ days }), time, zone);
    if (shown !== undefined && shown > at) return shown;
  }
}

/** Of a time that is skipped, when the clock jumps over it; undefined on a day that is skipped whole. */
function firstShown(date: Temporal.PlainDate, time: string, zone: string): number | undefined {
  const local = date.toPlainDateTime(Temporal.PlainTime.from(time));
  const first = local.toZonedDateTime(zone, { disambiguation: 'earlier' });
  if (first.toPlainDateTime().equals(local)) return first.epochMilliseconds;
  const jump = first.getTimeZoneTransition('next')!;
  return jump.toPlainDate().equals(date) ? jump.epochMilliseconds : undefined;
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
