import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { LEASE_MS } from '../../platform/jobs/lease.js';
import { type Attempt, PROBE_EVERY_MS } from './delivery.js';

/** A delivery that this process has taken up, with all that sending it needs. */
export interface TakenDelivery {
  deliveryId: string;
  workspaceId: string;
  destinationId: string;
  eventId: string;
  event: string;
  requestId: string;
  body: string;
  /** Which taking this is; a result counts only under the last. */
  takes: number;
  /** Attempts that have ended. */
  sends: number;
  url: string;
  sealedSecret: string;
  /** Signs too while a rotation overlaps. */
  previousSealedSecret: string | null;
  /** The one delivery that tries a paused destination. */
  probe: boolean;
}

/** What was taken up, and in how many milliseconds the next one falls due; null when none waits. */
export interface Taking {
  taken: TakenDelivery[];
  nextDueInMs: number | null;
}

/** A destination that has something due, now or soon. */
export interface DueDestination {
  workspaceId: string;
  destinationId: string;
  /** Milliseconds; what is overdue is negative. */
  dueInMs: number;
}

type Result = Pick<TakenDelivery, 'workspaceId' | 'deliveryId' | 'takes'>;

const scopeOf = (workspaceId: string): Scope => ({ workspaceId, teamIds: 'all' });

/** The sending side of deliveries: who takes one up, for how long, and what came of it. */
@Injectable()
export class Deliveries {
  constructor(private readonly db: Db) {}

  /** The destinations with a delivery due within `aheadMs`. */
  due(aheadMs: number): Promise<DueDestination[]> {
    return this.db.system<DueDestination>(
      `select workspace_id, destination_id, due_in_ms from app.due_destinations($1 * interval '1 millisecond')`,
      [aheadMs],
    );
  }

  /**
   * Takes up to `room` due deliveries of a destination; never more than its ten in flight over all processes. Tells too
   * when the next one falls due, or its lease ends.
   */
  async take(workspaceId: string, destinationId: string, room: number): Promise<Taking> {
    const [taken, [next]] = (await this.db.writeAll(scopeOf(workspaceId), [
      {
        text: `select delivery_id, workspace_id, destination_id, event_id, event, request_id, body, takes, sends, url,
            sealed_secret, previous_sealed_secret, probe
          from app.take_deliveries($1, $2, $3, $4 * interval '1 millisecond', $5 * interval '1 millisecond')`,
        values: [workspaceId, destinationId, room, LEASE_MS, PROBE_EVERY_MS],
      },
      {
        text: `select extract(epoch from due_at - clock_timestamp())::float8 * 1000 as due_in_ms from webhook_deliveries
          where workspace_id = $1 and destination_id = $2 and due_at > now() order by due_at limit 1`,
        values: [workspaceId, destinationId],
      },
    ])) as [TakenDelivery[], { dueInMs: number }[]];
    return { taken, nextDueInMs: next?.dueInMs ?? null };
  }

  /** Keeps a delivery that is being sent; false when it is another's by now. */
  async extendLease({ workspaceId, deliveryId, takes }: Result): Promise<boolean> {
    const [held] = await this.db.writeAll(scopeOf(workspaceId), [
      {
        text: `update webhook_deliveries set due_at = now() + $4 * interval '1 millisecond'
          where workspace_id = $1 and delivery_id = $2 and status = 'sending' and takes = $3 returning takes`,
        values: [workspaceId, deliveryId, takes, LEASE_MS],
      },
    ]);
    return held!.length > 0;
  }

  /**
   * Ends a delivery that arrived at a destination in good standing, in one round trip; false when it is another's by
   * now.
   */
  async arrived(delivery: TakenDelivery, attempt: Attempt): Promise<boolean> {
    const { workspaceId, destinationId } = delivery;
    const [settled] = await this.db.writeAll(scopeOf(workspaceId), [
      settle(delivery, attempt, 'delivered', null),
      {
        // Once a second is enough for a person to read, and keeps the row from being everyone's to write.
        text: `update webhook_destinations set last_delivery_at = now(), consecutive_failures = 0
          where workspace_id = $1 and destination_id = $2 and status = 'active'
            and (consecutive_failures > 0 or last_delivery_at is null or last_delivery_at < now() - interval '1 second')`,
        values: [workspaceId, destinationId],
      },
    ]);
    return settled!.length > 0;
  }

  /** Puts a delivery off for `waitMs`; false when it is another's by now. */
  async putOff(delivery: TakenDelivery, attempt: Attempt, waitMs: number): Promise<boolean> {
    const [settled] = await this.db.writeAll(scopeOf(delivery.workspaceId), [
      settle(delivery, attempt, 'failed', waitMs),
    ]);
    return settled!.length > 0;
  }

  /** Ends a delivery in the open transaction; false when it is another's by now. */
  async end(delivery: TakenDelivery, attempt: Attempt, status: 'delivered' | 'dead'): Promise<boolean> {
    const { text, values } = settle(delivery, attempt, status, null);
    return (await this.db.query(text, values)).length > 0;
  }

  /** Gives up whatever still waits for a destination, in the open transaction. */
  giveUpRest(workspaceId: string, destinationId: string): void {
    this.db.write(
      `update webhook_deliveries set status = 'dead', due_at = null
       where workspace_id = $1 and destination_id = $2 and due_at is not null`,
      [workspaceId, destinationId],
    );
  }
}

function settle(
  { workspaceId, deliveryId, takes }: Result,
  attempt: Attempt,
  status: 'delivered' | 'failed' | 'dead',
  waitMs: number | null,
) {
  return {
    text: `update webhook_deliveries set status = $4, attempts = attempts || $5::jsonb,
        due_at = clock_timestamp() + $6::float8 * interval '1 millisecond'
      where workspace_id = $1 and delivery_id = $2 and status = 'sending' and takes = $3 returning takes`,
    values: [workspaceId, deliveryId, takes, status, JSON.stringify([attempt]), waitMs],
  };
}
