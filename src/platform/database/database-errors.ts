import { DatabaseError } from 'pg';

const OUTAGE_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  '53300',
  // Writes are refused for now: read-only after a failover, no disk space, no memory, an I/O error.
  '25006',
  '53100',
  '53200',
  '58030',
  // A transaction that stood still for too long, as one of a process does that gets no processor.
  '25P03',
  '25P04',
  // Of a server that is a standby, is full, or has no memory or no disk: it takes no writes until that has changed.
  '25006',
  '53100',
  '53200',
  '58030',
  // A standby cancels reads that hold up what it receives. No transaction of ours is serializable, which has the same code.
  '40001',
]);

/** True when the database could not be reached, ended the connection or takes no writes: worth another try, and nobody's fault. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: string }).code;
  if (code !== undefined) return OUTAGE_CODES.has(code) || code.startsWith('08');
  return /Connection terminated|connection timeout|timeout exceeded when trying to connect|not queryable/i.test(
    error.message,
  );
}

/** True when the database cancelled a statement: it ran into `statement_timeout`, or an operator ended it. */
export function isCancelled(error: unknown): boolean {
  return error instanceof Error && (error as { code?: string }).code === '57014';
}

/** The name of the constraint that refused a write, if one did. */
export function violatedConstraint(error: unknown): string | undefined {
  const cause = error instanceof Error && 'driverError' in error ? error.driverError : error;
  return cause instanceof DatabaseError && cause.code?.startsWith('23') ? cause.constraint : undefined;
}

/** True when a lock was not granted in time (`lock_timeout`). */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '55P03';
}

/** True when two transactions waited for each other and this one was ended for it; done again, it goes through. */
export function isDeadlock(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '40P01';
}

/** True when app.finish found that people may not change the workspace any more, since it is going to be deleted. */
export function isReadOnlyWorkspace(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === 'CW003';
}

/** True when app.end_attempt found that the work belongs to another attempt by now. */
export function isLateResult(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === 'CW001';
}

/** True when app.assert_only_packet found that something else came of a packet than was foreseen. */
export function isUnforeseen(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === 'CW005';
}

/** True when app.finish found that the caller's rights have changed since the act began. */
export function isCallerChanged(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === 'CW002';
}
