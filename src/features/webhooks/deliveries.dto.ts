import type { EventType } from '../events/event.js';
import type { DeliveryStatus } from './delivery.entity.js';

/** One attempt to deliver. */
export class DeliveryAttempt {
  /** Counted from 1. */
  n!: number;
  /** When it was made, Unix milliseconds. */
  at!: number;
  /** The HTTP status that was answered; null when there was no answer. */
  status!: number | null;
  durationMs!: number;
  /** Why there was no answer. */
  error!: string | null;
  /** The beginning of the answer, at most 2 KiB. */
  answer?: string;
}

/** One event on its way to one destination. */
export class DeliveryView {
  deliveryId!: string;
  /** The `webhook-id`, the same at every attempt and redelivery. */
  eventId!: string;
  event!: EventType;
  destinationId!: string;
  /** pending, sending, delivered, failed (another attempt follows) or dead (none does) */
  status!: DeliveryStatus;
  attempts!: DeliveryAttempt[];
  /** Unix milliseconds; null while one is made, and when none follows. */
  nextAttemptAt!: number | null;
  /** The request that caused the event. */
  requestId!: string;
}

export class DeliveryPage {
  items!: DeliveryView[];
  total!: number;
  limit!: number;
  offset!: number;
}
