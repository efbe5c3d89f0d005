import { PageFacts } from '../../platform/kernel/pages.dto.js';
import type { EventType } from '../events/event.js';
import type { DeliveryStatus } from './delivery.entity.js';

/** One attempt to deliver. */
export class DeliveryAttemptSummary {
  /** Counted from 1. */
  n!: number;
  /** When it was made, Unix milliseconds. */
  at!: number;
  /** The HTTP status that was answered; null when there was no answer. */
  status!: number | null;
  durationMs!: number;
  /** Why there was no answer. */
  error!: string | null;
}

/** One attempt to deliver, with what the receiver said. */
export class DeliveryAttempt extends DeliveryAttemptSummary {
  /** The beginning of the answer, at most 2 KiB. */
  answer?: string;
}

/** One event on its way to one destination, as lists show it. */
export class DeliverySummary {
  deliveryId!: string;
  /** The `webhook-id`, the same at every attempt and redelivery. */
  eventId!: string;
  event!: EventType;
  destinationId!: string;
  /** pending, sending, delivered, failed (another attempt follows) or dead (none does) */
  status!: DeliveryStatus;
  attempts!: DeliveryAttemptSummary[];
  /** Unix milliseconds; null while one is made, and when none follows. */
  nextAttemptAt!: number | null;
  /** The request that caused the event. */
  requestId!: string;
}

/** One event on its way to one destination, with what the receiver answered. */
export class DeliveryView extends DeliverySummary {
  declare attempts: DeliveryAttempt[];
}

export class DeliveryPage extends PageFacts {
  items!: DeliverySummary[];
}
