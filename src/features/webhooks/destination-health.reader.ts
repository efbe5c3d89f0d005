import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { Attempt } from './delivery.js';
import type { DestinationFault, DestinationStatus } from './destination.entity.js';

/** What the deliveries to a destination have shown of it. */
export interface DestinationHealth {
  url: string;
  status: DestinationStatus;
  /** What keeps us from sending to it, whatever the receiver does. */
  fault: DestinationFault | null;
  /** The last attempt at its newest delivery that was tried, where that attempt failed. */
  failed: Pick<Attempt, 'at' | 'status' | 'error'> | null;
}

/** So many of the newest deliveries are looked at: behind them nothing says how the destination is now. */
const NEWEST = 20;

/** How destinations are, by what was sent to them. */
@Injectable()
export class DestinationHealthReader {
  constructor(private readonly db: Db) {}

  /** Undefined for one that was deleted. */
  async read(scope: Scope, destinationId: string): Promise<DestinationHealth | undefined> {
    const [row] = await this.db.read<DestinationHealth>(
      scope,
      `select d.url, d.status, d.fault,
         case when tried.status in ('failed', 'dead') then tried.attempts->-1 end as failed
       from webhook_destinations d
       left join lateral (
         select n.status, n.attempts from (
           select e.status, e.attempts, e.created_at, e.delivery_id from webhook_deliveries e
           where e.workspace_id = d.workspace_id and e.destination_id = d.destination_id
           order by e.created_at desc, e.delivery_id desc limit ${NEWEST}) n
         where jsonb_array_length(n.attempts) > 0
         order by n.created_at desc, n.delivery_id desc limit 1) tried on true
       where d.workspace_id = $1 and d.destination_id = $2 and d.deleted_at is null`,
      [scope.workspaceId, destinationId],
    );
    return row;
  }
}
