/** How long a row belongs to who took it up, unless it is extended: what a killed process held is free soon after. */
export const LEASE_MS = 6_000;
const EXTEND_EVERY_MS = 2_000;

/** Clocks of the program and of the database may differ by this much; a wake-up must not come too early for its row. */
export const CLOCK_TOLERANCE_MS = 100;

/**
 * Runs `work` while extending the lease on its row. The signal is aborted when the lease is lost (another process took
 * the row, or the kill switch halted it) or when `also` is.
 * @param extend answers whether the row still belongs to this attempt
 */
export async function withLease<T>(
  extend: () => Promise<boolean>,
  work: (signal: AbortSignal) => Promise<T>,
  also?: AbortSignal,
): Promise<T> {
  const lost = new AbortController();
  const timer = setInterval(() => {
    extend().then(
      (held) => held || lost.abort(),
      // An unreachable database decides nothing; the result, if it comes too late, is refused by its attempt.
      () => undefined,
    );
  }, EXTEND_EVERY_MS);
  try {
    return await work(also ? AbortSignal.any([lost.signal, also]) : lost.signal);
  } finally {
    clearInterval(timer);
  }
}

/** The wait before attempt `attempt + 1`, in milliseconds: 1 s, 4 s, 16 s, then a minute. */
export function backoffMs(attempt: number): number {
  return Math.min(60_000, 1_000 * 4 ** Math.max(0, attempt - 1));
}
