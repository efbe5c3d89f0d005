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

export type NextMail =
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
