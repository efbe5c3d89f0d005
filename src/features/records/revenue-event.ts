import type { RevenueEventEntity } from './revenue-event.entity.js';

/** The clocks of those who report are not ours. */
const CLOCK_TOLERANCE_MS = 5 * 60_000;

/** An event to record. */
export interface NewRevenueEvent extends Omit<
  RevenueEventEntity,
  'eventId' | 'workspaceId' | 'occurredAt' | 'reverses' | 'createdAt'
> {
  /** Unix milliseconds; now, if not said. */
  occurredAt?: number;
}

export function hasOccurred(at: number, now: number): boolean {
  return at <= now + CLOCK_TOLERANCE_MS;
}

/** Whether the same event was reported again. A report that names no time claims none. */
export function isSameEvent(recorded: RevenueEventEntity, reported: NewRevenueEvent): boolean {
  return (
    recorded.amount === reported.amount &&
    recorded.currency === reported.currency &&
    recorded.source === reported.source &&
    recorded.description === reported.description &&
    (reported.occurredAt === undefined || recorded.occurredAt === reported.occurredAt)
  );
}
