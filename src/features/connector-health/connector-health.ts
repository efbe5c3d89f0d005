import type { ConnectorKind, ConnectorStatus, ConnectorEntity } from './connector.entity.js';

/** What one check has found; `reason` is a sentence for a stranger, and repeats nothing that the other side said. */
export type ProbeResult =
  | { kind: 'ok'; latencyMs: number | null; reason: string }
  | {
      kind: 'failed';
      reason: string;
      latencyMs?: number | null;
      /** Of what was found out by an attempt to send something, and not by the check: when that was. It counts as one failure. */
      attemptedAt?: number;
    }
  /** Only a person can help: credentials are refused, or something else has been given up for good. */
  | { kind: 'refused'; reason: string; latencyMs?: number | null; tellsItself?: boolean };

/** What follows from what a probe has found. */
export interface HealthChange {
  changes: Pick<
    ConnectorEntity,
    | 'status'
    | 'reason'
    | 'latencyMs'
    | 'lastOkAt'
    | 'consecutiveFailures'
    | 'judgedAttemptAt'
    | 'healthySince'
    | 'alerted'
    | 'signalled'
    | 'escalated'
    | 'alerts'
    | 'recoveredAt'
  >;
  /** What people are told of it. */
  tell: { signal: boolean; escalate: boolean; recovered: boolean };
  nextInMs: number;
}

type HealthBefore = Pick<ConnectorEntity, 'kind'> &
  Omit<HealthChange['changes'], 'status' | 'reason' | 'latencyMs'>;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** CONTRACT, Connector. */
const SLOW_MS = 2 * SECOND;
const FAILURES_TO_RED = 3;

/** How often a healthy one is checked. */
const EVERY_MS: Readonly<Record<ConnectorKind, number>> = {
  database: MINUTE,
  queue: MINUTE,
  mail: 5 * MINUTE,
  model: 5 * MINUTE,
  http: 5 * MINUTE,
  // Of these there is one for each workspace, or some; what is sent to them says more than a check.
  webhook: 30 * MINUTE,
  partner: HOUR,
};
/** While it is not known whether it fails, or has recovered. */
const SOON_MS = MINUTE;
const RED_MS = 5 * MINUTE;
/** Accounts are locked for a while when a wrong password is tried too often. */
const REFUSED_MS = 15 * MINUTE;

/** How long it has to be healthy before it is told that it has recovered, the first time; twice as long each time after it. */
const RECOVERY_MS = 2 * MINUTE;
const LONGEST_RECOVERY_MS = 6 * HOUR;
/** After so long a time the next failure is a new one. */
const FORGOTTEN_AFTER_MS = 24 * HOUR;

/**
 * Judges what a check has found. The status follows from it at once; people are told that a connector is red once, and that it
 * has recovered only after it has stayed healthy for a time that grows with each failure in between, so that one that comes
 * and goes tells ten times a day at the most.
 */
export function assessHealth(before: HealthBefore, result: ProbeResult, now: number): HealthChange {
  const isOk = result.kind === 'ok';
  const { latencyMs = null } = result;
  const isCounted = isCountedAlready(before, result);
  const consecutiveFailures = failuresInARow(before, result, isCounted);
  const status = statusOf(result, consecutiveFailures);
  const healthySince = isOk ? (before.healthySince ?? now) : null;
  const recovered = before.alerted && isOk && now - healthySince! >= recoveryMs(before.alerts);
  const isRed = status === 'red';
  const isNew = isRed && !before.alerted;
  const alerted = (before.alerted || isRed) && !recovered;
  // The deliveries tell of a pause themselves; what they do not tell of is told here, as soon as it is red for that.
  const tellsItself = result.kind === 'refused' && result.tellsItself === true;
  const signal = isRed && !before.signalled && !tellsItself;
  const escalate = isRed && !before.escalated && !tellsItself;
  const isSlow = isOk && status === 'yellow';
  return {
    changes: {
      status,
      reason: isSlow ? slowly(result.reason, latencyMs!) : result.reason,
      latencyMs,
      lastOkAt: isOk ? now : before.lastOkAt,
      consecutiveFailures,
      judgedAttemptAt: attemptedAt(result) ?? before.judgedAttemptAt,
      healthySince,
      alerted,
      signalled: alerted && (before.signalled || signal),
      escalated: alerted && (before.escalated || escalate),
      alerts: isNew ? alertsNow(before, now) : before.alerts,
      recoveredAt: recovered ? now : before.recoveredAt,
    },
    tell: { signal, escalate, recovered },
    nextInMs: isCounted ? RED_MS : nextInMs(before.kind, result, status, alerted),
  };
}

function attemptedAt(result: ProbeResult): number | undefined {
  return result.kind === 'failed' ? result.attemptedAt : undefined;
}

/** The same attempt is found at each check until there is another; its times are all of one clock. */
function isCountedAlready({ judgedAttemptAt }: HealthBefore, result: ProbeResult): boolean {
  const at = attemptedAt(result);
  return at !== undefined && judgedAttemptAt !== null && at <= judgedAttemptAt;
}

function failuresInARow(
  { consecutiveFailures }: HealthBefore,
  { kind }: ProbeResult,
  isCounted: boolean,
): number {
  if (kind === 'ok') return 0;
  return isCounted ? Math.max(1, consecutiveFailures) : consecutiveFailures + 1;
}

function statusOf(result: ProbeResult, consecutiveFailures: number): ConnectorStatus {
  if (result.kind === 'ok') return (result.latencyMs ?? 0) > SLOW_MS ? 'yellow' : 'green';
  return result.kind === 'refused' || consecutiveFailures >= FAILURES_TO_RED ? 'red' : 'yellow';
}

function slowly(reason: string, latencyMs: number): string {
  return `${reason} It is slow: it took ${(latencyMs / SECOND).toFixed(1)} seconds.`;
}

function recoveryMs(alerts: number): number {
  return Math.min(LONGEST_RECOVERY_MS, RECOVERY_MS * 2 ** Math.max(0, alerts - 1));
}

function alertsNow({ alerts, recoveredAt }: HealthBefore, now: number): number {
  return recoveredAt !== null && now - recoveredAt < FORGOTTEN_AFTER_MS ? alerts + 1 : 1;
}

function nextInMs(
  kind: ConnectorKind,
  result: ProbeResult,
  status: ConnectorStatus,
  alerted: boolean,
): number {
  if (result.kind === 'refused') return REFUSED_MS;
  if (status === 'red') return RED_MS;
  return status === 'yellow' || alerted ? Math.min(SOON_MS, EVERY_MS[kind]) : EVERY_MS[kind];
}

/** What is stored of a connector's health, as far as it decides what is shown. */
export type StoredHealth = Pick<ConnectorEntity, 'kind' | 'status' | 'reason'> & {
  /** Its check was due long ago. */
  overdue: boolean;
  /** No running process knows how to check it. */
  unknown: boolean;
};

const OVERDUE =
  'The last check is too long ago: no worker process is running, or the workers have too much to do.';
const UNKNOWN =
  'It is not checked: no running process knows it. Start a worker process with the configuration that names it.';

/**
 * What is no longer checked is no longer known to be healthy. The checks are work of the queue themselves, so when they are
 * overdue the queue is failing.
 */
export function asShown({
  kind,
  status,
  reason,
  overdue,
  unknown,
}: StoredHealth): Pick<ConnectorEntity, 'status' | 'reason'> {
  if (status === 'red') return { status, reason };
  if (overdue) return { status: kind === 'queue' ? 'red' : 'yellow', reason: OVERDUE };
  return unknown ? { status: 'yellow', reason: UNKNOWN } : { status, reason };
}
