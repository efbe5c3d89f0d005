import { Temporal } from 'temporal-polyfill';
import { knownZone } from '../../platform/kernel/local-day.js';
import { appliesAt } from '../standing-orders/index.js';

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
