import { Temporal } from 'temporal-polyfill';
import { knownZone } from '../../platform/kernel/local-day.js';
import { appliesAt } from '../standing-orders/index.js';
import type { NotificationsView, NotifyChoice, ReportChoice } from '../workspaces/index.js';

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

/** What is due for one member, and what they were mailed lately. */
export interface Mailbox {
  /** How many notifications are due. */
  due: number;
  /** Of these, those that were to wait for a digest. */
  dueInDigest: number;
  /** How many of those that are due are urgent. */
  urgent: number;
  /** When something urgent was mailed last; null: not within the last hour. */
  urgentAt: number | null;
  /** Mails about one thing in the last hour. */
  singles: number;
  /** When the last digest was mailed; null: not within the last hour. */
  digestAt: number | null;
}

/** So much at once is mailed one by one. */
const MOST_AT_ONCE = 3;
/** Mails about one thing that one member gets in an hour. */
const MOST_SINGLES = 8;
export const HOUR_MS = 3_600_000;
/** The time between two digests. With the mails about one thing that is twelve mails an hour. */
const BETWEEN_DIGESTS_MS = HOUR_MS / 4;

/** The first urgent thing is mailed at once, and those that become urgent within a minute of it, together. */
const BETWEEN_URGENT_MS = 60_000;

type NextMail =
  { mail: 'none' } | { mail: 'single' } | { mail: 'digest' } | { mail: 'later'; waitMs: number };

/** The next mail to one member. Many notices at once, even ten thousand approvals, become one digest. */
export function nextMail(
  { due, dueInDigest, urgent, urgentAt, singles, digestAt }: Mailbox,
  now: number,
): NextMail {
  if (due === 0) return { mail: 'none' };
  const isBelowCap = singles < MOST_SINGLES;
  if (isBelowCap && (due === 1 || (due <= MOST_AT_ONCE && dueInDigest === 0))) return { mail: 'single' };
  const digestMs = digestAt === null ? 0 : digestAt + BETWEEN_DIGESTS_MS - now;
  const urgentMs = urgentAt === null ? 0 : urgentAt + BETWEEN_URGENT_MS - now;
  if (digestMs <= 0 || (urgent > 1 && urgentMs <= 0)) return { mail: 'digest' };
  if (urgent > 0 && urgentMs <= 0) return { mail: 'single' };
  return { mail: 'later', waitMs: urgent > 0 ? Math.min(digestMs, urgentMs) : digestMs };
}

/** What a member has chosen over the settings of the workspace; null: those hold. */
export interface OwnChoice {
  approvals: NotifyChoice | null;
  escalations: NotifyChoice | null;
  reports: ReportChoice | null;
  quietHours: Hours | null;
  /** Quiet hours do not hold for this member, neither their own nor the workspace's. */
  atAnyHour: boolean;
}

/** What holds for a member. */
export interface Choice extends NotificationsView {
  quietHours: Hours | null;
}

export const NO_CHOICE: Readonly<OwnChoice> = Object.freeze({
  approvals: null,
  escalations: null,
  reports: null,
  quietHours: null,
  atAnyHour: false,
});

export function choiceOf(
  workspace: { notifications: NotificationsView; quietHours: Hours | null },
  own: OwnChoice,
): Choice {
  const { notifications } = workspace;
  return {
    approvals: own.approvals ?? notifications.approvals,
    escalations: own.escalations ?? notifications.escalations,
    reports: own.reports ?? notifications.reports,
    quietHours: own.atAnyHour ? null : (own.quietHours ?? workspace.quietHours),
  };
}

/** When somebody is told, and whether together with what else waits by then. */
export interface Telling {
  dueAt: number;
  inDigest: boolean;
}

/**
 * When a member is told of something, if at all. Urgent things are told at once, in quiet hours too: before these end, they
 * may have run out, or been decided by members who are awake.
 */
export function whenToTell(
  what: 'approvals' | 'escalations',
  { isUrgent, at, zone }: { isUrgent: boolean; at: number; zone: string },
  choice: Choice,
): Telling | undefined {
  const { quietHours } = choice;
  const chosen = choice[what];
  if (chosen === 'none') return undefined;
  if (isUrgent) return { dueAt: at, inDigest: false };
  switch (chosen) {
    case 'urgent':
      return undefined;
    case 'digest':
      return { dueAt: nextDigest(at, quietHours, zone), inDigest: true };
    case 'all': {
      const end = endOfQuietHours(at, quietHours, zone);
      return { dueAt: end ?? at, inDigest: end !== undefined };
    }
  }
}
