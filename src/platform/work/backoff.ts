/** The wait before the next attempt after `failures` of them, in milliseconds: 1 s, 4 s, 16 s, then a minute. */
export function backoffMs(failures: number): number {
  return Math.min(60_000, 1_000 * 4 ** Math.max(0, failures - 1));
}
