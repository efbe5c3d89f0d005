import { IsBoolean, IsIn, IsOptional } from 'class-validator';
import { PageFacts, PageQuery } from '../../platform/kernel/pages.dto.js';
import type { EventType } from '../events/index.js';
import type { DeliveryStatus } from './destination.entity.js';

/** The parameter of the paths, as it is documented. */
export const DELIVERY_PARAM = {
  name: 'id',
  description: 'The id of the delivery.',
  example: 'dlv_01khqw9gv0pkvgtynw57hd03n1',
};

/** What a list of deliveries can be narrowed to. */
const SHOWN_DELIVERIES = ['lost', 'waiting', 'delivered'] as const;

export class DeliveriesQuery extends PageQuery {
  /**
   * Only those that are `lost` (given up, and their event not sent again since), `waiting` (not sent yet, or tried again) or
   * `delivered`.
   * @example 'lost'
   */
  @IsOptional()
  @IsIn(SHOWN_DELIVERIES)
  show?: (typeof SHOWN_DELIVERIES)[number];
}

export class RedeliverBody {
  /** Send nothing where the event has arrived meanwhile: the answer is the delivery that did. @example true */
  @IsOptional()
  @IsBoolean()
  unlessDelivered?: boolean;
}

/** One attempt to deliver. */
export class DeliveryAttemptSummary {
  /** Counted from 1. @example 1 */
  n!: number;
  /** When it was made, Unix milliseconds. @example 1771401692000 */
  at!: number;
  /** The HTTP status that was answered; null when there was no answer. @example 200 */
  status!: number | null;
  /** How long it took, in milliseconds. @example 84 */
  durationMs!: number;
  /** Why there was no answer; null when there was one. */
  error!: string | null;
}

/** One attempt to deliver, with what the receiver said. */
export class DeliveryAttempt extends DeliveryAttemptSummary {
  /** The beginning of the answer, at most 2 KiB. @example 'ok' */
  answer?: string;
}

/** One event on its way to one destination, as lists show it. */
export class DeliverySummary {
  /** The id of the delivery. @example 'dlv_01khqw9gv0pkvgtynw57hd03n1' */
  deliveryId!: string;
  /** The `webhook-id`, the same at every attempt and redelivery. @example 'evt_01khqw9gv0gp4586j853ey3x66' */
  eventId!: string;
  /** The event type. @example 'directive.executed' */
  event!: EventType;
  /**
   * What the event is about, at most 200 characters: the title of an approval, the text of a directive, the headline of a report. Null
   * for a test, and where that was deleted.
   * @example 'Email jane@acme.example, subject "Your order 4714 has shipped"'
   */
  about!: string | null;
  /** The delivery of the same event to the same destination that this one repeats; null: it is the first. */
  previousDeliveryId!: string | null;
  /** The destination that it goes to. @example 'whk_01kerrmxe0f92dpshwc00z76cs' */
  destinationId!: string;
  /** pending, sending, delivered, failed (another attempt follows) or dead (none does) @example 'delivered' */
  status!: DeliveryStatus;
  /** It was given up, and its event has neither arrived nor been sent again since. @example false */
  lost!: boolean;
  /** Every attempt so far, oldest first. */
  attempts!: DeliveryAttemptSummary[];
  /** When the next attempt is due, Unix milliseconds; null while one is made, and when none follows. */
  nextAttemptAt!: number | null;
  /** The request that caused the event. @example 'req_01khqw6q00wy74pjf1avkzwmgz' */
  requestId!: string;
}

/** One event on its way to one destination, with what the receiver answered. */
export class DeliveryView extends DeliverySummary {
  /** Every attempt so far, oldest first. */
  declare attempts: DeliveryAttempt[];
}

export class DeliveryPage extends PageFacts {
  /** The deliveries of this page, newest first. */
  items!: DeliverySummary[];
}
