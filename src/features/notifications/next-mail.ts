/** What is due for one member, and what they were mailed lately. */
export interface Mailbox {
  /** How many notifications are due. */
  due: number;
  /** Of these, those that were to wait for a digest. */
  dueInDigest: number;
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

export type NextMail =
  { mail: 'none' } | { mail: 'single' } | { mail: 'digest' } | { mail: 'later'; waitMs: number };

/** What one member is mailed now. Whatever comes at once, ten thousand approvals too, is a digest and not as many mails. */
export function nextMail({ due, dueInDigest, singles, digestAt }: Mailbox, now: number): NextMail {
  if (due === 0) return { mail: 'none' };
  const isBelowCap = singles < MOST_SINGLES;
  if (isBelowCap && (due === 1 || (due <= MOST_AT_ONCE && dueInDigest === 0))) return { mail: 'single' };
  const waitMs = digestAt === null ? 0 : digestAt + BETWEEN_DIGESTS_MS - now;
  return waitMs > 0 ? { mail: 'later', waitMs } : { mail: 'digest' };
}
