import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { Work } from '../../platform/work/work.js';
import type { WorkItem } from '../../platform/work/work-item.js';
import { DELIVERY_WORK } from '../events/index.js';
import type { Attempt } from './delivery.js';
import type { StoredDeliveryStatus } from './delivery.entity.js';

/** A delivery that this process has claimed, with all that sending it needs: its id is the item's, its queue the destination. */
export interface ClaimedDelivery extends WorkItem {
  /** False when its destination was deleted or is gone, or there is no such delivery any more: its work only has to end. */
  receives: boolean;
  eventId: string;
  event: string;
  requestId: string;
  body: string;
  /** Attempts that have ended. */
  sends: number;
  url: string;
  sealedSecret: string;
  /** These sign too, while a rotation overlaps; the newest first. */
  formerSealedSecrets: string[];
}

/** So many deliveries of a destination are ended at once; more follow in the same transaction. */
const ENDED_AT_ONCE = 10_000;

/**
 * The sending side of deliveries. Locks are taken in one order everywhere: the destination, its deliveries, their work;
 * so two who lock in turn cannot wait for each other.
 */
@Injectable()
export class Deliveries {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
  ) {}

  /** Ends a delivery that arrived at a destination in good health, in one round trip. */
  async complete(delivery: ClaimedDelivery, attempt: Attempt): Promise<void> {
    await this.work.completeWith(delivery, [
      {
        // Once a second is enough for a person to read, and keeps the row from being everyone's to write.
        text: `update webhook_destinations set last_delivery_at = now(), consecutive_failures = 0, fault = null
          where workspace_id = $1 and destination_id = $2 and status = 'active'
            and (consecutive_failures > 0 or fault is not null or last_delivery_at is null
              or last_delivery_at < now() - interval '1 second')`,
        values: [delivery.workspaceId, delivery.queue],
      },
      updated(delivery, 'delivered', attempt),
    ]);
  }

  /** Has a delivery sent again after `waitMs`, in one round trip. */
  async reschedule(delivery: ClaimedDelivery, attempt: Attempt, waitMs: number): Promise<void> {
    await this.work.rescheduleWith(delivery, waitMs, [updated(delivery, 'failed', attempt)]);
  }

  /** Writes how a delivery ended; the caller completes its work in the same transaction. */
  end(delivery: ClaimedDelivery, status: 'delivered' | 'dead', attempt?: Attempt): void {
    const { text, values } = updated(delivery, status, attempt);
    this.db.write(text, values);
  }

  /** Ends whatever still waits for a destination, and attempts at it that are under way; answers how many that were. */
  async endWaiting(destinationId: string): Promise<number> {
    let count = 0;
    for (;;) {
      const ended = await this.db.query<{ deliveryId: string }>(
        `update webhook_deliveries set status = 'dead'
         where workspace_id = $1 and delivery_id in (
           select delivery_id from webhook_deliveries
           where workspace_id = $1 and destination_id = $2 and status in ('pending', 'failed') limit $3)
         returning delivery_id`,
        [this.db.unit.scope.workspaceId, destinationId, ENDED_AT_ONCE],
      );
      this.work.cancel(
        DELIVERY_WORK,
        ended.map(({ deliveryId }) => deliveryId),
      );
      count += ended.length;
      if (ended.length < ENDED_AT_ONCE) return count;
    }
  }
}

function updated({ workspaceId, id }: WorkItem, status: StoredDeliveryStatus, attempt?: Attempt) {
  return {
    text: `update webhook_deliveries set status = $3, attempts = attempts || $4::jsonb
      where workspace_id = $1 and delivery_id = $2 and status in ('pending', 'failed')`,
    values: [workspaceId, id, status, JSON.stringify(attempt ? [attempt] : [])],
  };
}
