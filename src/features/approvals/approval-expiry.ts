import type { Actor } from '../../platform/auth/caller.js';
import { InvalidTransition } from '../../platform/kernel/errors.js';
import type { ApprovalEntity, ApprovalStatus } from './approval.entity.js';

const MINUTE_MS = 60_000;
const EARLIEST_MS = 24 * 60 * MINUTE_MS;
const LATEST_MS = 15 * MINUTE_MS;

/** An approval is given as much time again as it had, but no more than this. */
const MAX_EXTENSION_MS = 24 * 60 * MINUTE_MS;
const MAX_EXTENSIONS = 3;

/**
 * When a person is told that an approval is about to expire: when a quarter of its time is left, but at least 15 minutes and
 * at most 24 hours before. Of one that lives no longer than that, at once.
 */
export function escalationTime(from: number, expiresAt: number): number {
  return expiresAt - Math.min(EARLIEST_MS, Math.max(LATEST_MS, (expiresAt - from) / 4));
}

/**
 * When it expires after one more extension: as long again as it had at first, at most 24 hours, and never beyond the
 * deadline of its directive.
 * @throws InvalidTransition when it had three, or the deadline leaves no more
 */
export function extendedExpiry({
  requestedAt,
  expiresAt,
  deadline,
  extensions,
}: Pick<ApprovalEntity, 'requestedAt' | 'expiresAt' | 'deadline' | 'extensions'>): number {
  if (extensions >= MAX_EXTENSIONS) {
    throw new InvalidTransition({
      message: `It was given more time ${MAX_EXTENSIONS} times already; approve or reject it.`,
    });
  }
  const had = Math.round((expiresAt - requestedAt) / (extensions + 1));
  const extended = Math.min(expiresAt + Math.min(had, MAX_EXTENSION_MS), deadline ?? Infinity);
  if (extended <= expiresAt) {
    throw new InvalidTransition({
      message: 'The deadline of its directive leaves no more time; approve or reject it.',
    });
  }
  return extended;
}

const BECAUSE: Record<Exclude<ApprovalStatus, 'pending'>, (name: string, title: string) => string> = {
  approved: (name, title) => `${name} approved ${title}.`,
  rejected: (name, title) => `${name} rejected ${title}.`,
  changes_requested: (name, title) => `${name} asked for changes to ${title}.`,
  expired: (_, title) => `the time for a decision on ${title} is over.`,
  cancelled: (_, title) => `${title} is no longer wanted.`,
};

/** Why nobody has to look at its end any more; the title comes quoted. */
export function becauseOf(status: ApprovalStatus, { name }: Pick<Actor, 'name'>, title: string): string {
  return status === 'pending' ? '' : BECAUSE[status](name, title);
}
