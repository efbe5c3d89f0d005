import type { Actor } from '../../platform/auth/caller.js';
import { InvalidTransition } from '../../platform/kernel/errors.js';
import type { SignalSummary, SignalView } from './signals.dto.js';
import type { SignalEntity } from './signal.entity.js';

const YEAR_MS = 365 * 86_400_000;

/** What the caller of `POST /ack` wants: seen and done with, or shown again later. */
export interface Acknowledgement {
  by: Actor;
  at: number;
  note: string | null;
  snoozeUntil: number | null;
}

/** A snooze ends in the future, and within a year: one without an end would be an acknowledgement. */
export function isSnoozeTime(until: number, now: number): boolean {
  return until > now && until <= now + YEAR_MS;
}

/**
 * The signal after the acknowledgement; undefined when it is that way already, so that asking again changes nothing.
 * The first acknowledgement stands.
 * @throws InvalidTransition when an acknowledged signal is to be snoozed
 */
export function acknowledge(
  signal: SignalEntity,
  { by, at, note, snoozeUntil }: Acknowledgement,
): SignalEntity | undefined {
  if (snoozeUntil === null) {
    if (signal.acknowledgedAt !== null) return undefined;
    return { ...signal, acknowledgedAt: at, acknowledgedBy: by, note, snoozedUntil: null };
  }
  if (signal.acknowledgedAt !== null) {
    throw new InvalidTransition({
      message: 'The signal is already acknowledged, so it cannot be snoozed.',
    });
  }
  return signal.snoozedUntil === snoozeUntil ? undefined : { ...signal, note, snoozedUntil: snoozeUntil };
}

export function summaryOf(signal: Omit<SignalEntity, 'body'>): SignalSummary {
  return {
    signalId: signal.signalId,
    type: signal.type,
    severity: signal.severity,
    title: signal.title,
    score: signal.score,
    source: signal.source,
    teamId: signal.teamId,
    capo: signal.capo,
    entity: signal.entity,
    createdAt: signal.createdAt,
    acknowledgedAt: signal.acknowledgedAt,
    acknowledgedBy: signal.acknowledgedBy,
    snoozedUntil: signal.snoozedUntil,
  };
}

export function viewOf(signal: SignalEntity): SignalView {
  return { ...summaryOf(signal), body: signal.body };
}
