import type { RunnerFailed } from '../capos/index.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** A provider that is overloaded or down needs minutes, not seconds. */
const PROVIDER_WAITS = [15 * SECOND, MINUTE, 4 * MINUTE, 15 * MINUTE];
/** A process of our own that ended is there again at once. */
const CRASH_WAITS = [SECOND, 4 * SECOND];

/** How long to wait before the next attempt at a draft that has failed so often, this time included; undefined: it is given up. */
export function waitBeforeRetry(
  { code, retryable, waitMs }: Pick<RunnerFailed, 'code' | 'retryable' | 'waitMs'>,
  failures: number,
): number | undefined {
  if (!retryable) return undefined;
  // Nothing is wrong with the draft or the provider: it waits for as long as it takes.
  if (code === 'model_budget_exceeded') return waitMs;
  const own = (code === 'crashed' ? CRASH_WAITS : PROVIDER_WAITS)[failures - 1];
  return own === undefined ? undefined : (waitMs ?? own);
}
