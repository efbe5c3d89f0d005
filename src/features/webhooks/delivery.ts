import type { Answer } from '../../platform/outbound/guarded-request.js';

/** The waits between the sends of a delivery, which is given up after one more than these (SPECIFICATION, Limits 5). */
const WAITS_MS = [1_000, 10_000, 60_000, 600_000];

/** In flight to one destination at most, over all processes (CONTRACT, Webhooks). */
export const IN_FLIGHT = 10;

/** So many deliveries given up in a row pause their destination (CONTRACT, Webhooks). */
export const GIVEN_UP_BEFORE_PAUSE = 20;

/** After this a paused destination is tried again with one delivery, and again after each that fails. */
export const PROBE_EVERY_MS = 3_600_000;

/** One attempt, as it is kept: `at` in Unix milliseconds; `status` is null when there was no answer. */
export interface Attempt {
  n: number;
  at: number;
  status: number | null;
  durationMs: number;
  error: string | null;
  /** The beginning of the answer, at most 2 KiB. */
  answer?: string;
}

/** What follows from an attempt. */
export type Verdict =
  | { kind: 'delivered' }
  | { kind: 'again'; waitMs: number }
  /** That was the last send. */
  | { kind: 'given_up' }
  /** The receiver wants nothing of this address any more. */
  | { kind: 'gone' };

/**
 * Judges the `n`th attempt, counted from 1 (SPECIFICATION, Delivery rules 2 to 4). What the receiver asks for with
 * Retry-After can only lengthen the wait, to twice of it at most.
 */
export function judge(n: number, answer: Answer): Verdict {
  if (answer.kind === 'answered') {
    if (answer.status >= 200 && answer.status < 300) return { kind: 'delivered' };
    if (answer.status === 410) return { kind: 'gone' };
  }
  const wait = WAITS_MS[n - 1];
  if (wait === undefined) return { kind: 'given_up' };
  const asked = answer.kind === 'answered' ? (answer.retryAfterSeconds ?? 0) * 1000 : 0;
  return { kind: 'again', waitMs: Math.min(Math.max(wait, asked), 2 * wait) };
}

export function attemptOf(n: number, at: number, answer: Answer): Attempt {
  const { durationMs } = answer;
  if (answer.kind === 'failed') return failedAttempt(n, at, answer.error, durationMs);
  const { status, excerpt } = answer;
  return { n, at, status, durationMs, error: null, ...(excerpt !== '' && { answer: excerpt }) };
}

/** An attempt without an answer, or one that could not even be made. */
export function failedAttempt(n: number, at: number, error: string, durationMs = 0): Attempt {
  return { n, at, status: null, durationMs, error };
}
