/** The wait before the next attempt after `failures` of them, in milliseconds: 1 s, 4 s, 16 s, then a minute. */
export function backoffMs(failures: number): number {
  return Math.min(60_000, 1_000 * 4 ** Math.max(0, failures - 1));
}

const MINUTE_MS = 60_000;
const PATIENT_MINUTES = [1, 5, 15, 30];
/** What a server outside cannot take now is given up after so many attempts: after more than a day, however the random parts fall. */
export const OUTSIDE_TRIES = 34;

/**
 * The wait before the next attempt at something outside, as mail servers keep it (RFC 5321, 4.5.4.1): 1, 5, 15 and 30
 * minutes, then an hour, each a tenth longer or shorter at random. Where nobody has answered yet, three short waits come first.
 */
export function outsideBackoffMs(failures: number, answered: boolean): number {
  const patient = answered ? failures : failures - 3;
  if (patient <= 0) return backoffMs(failures);
  return (PATIENT_MINUTES[patient - 1] ?? 60) * MINUTE_MS * (0.9 + Math.random() * 0.2);
}
