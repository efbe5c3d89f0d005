import { Injectable } from '@nestjs/common';
import type { Statement } from '../../platform/database/batch.js';
import { Db } from '../../platform/database/db.js';
import { newestFirst, readPage, where } from '../../platform/database/listing.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { isId } from '../../platform/kernel/ids.js';
import type { Page, PageQuery } from '../../platform/kernel/pages.dto.js';
import { OPEN_DELIVERIES } from './deliveries.repository.js';
import type { Attempt } from './delivery.js';
import {
  type DestinationFault,
  type DestinationStatus,
  WebhookDestinationEntity,
} from './destination.entity.js';
import { MAX_DESTINATIONS } from './destination.js';
import type { OpenDeliveries } from './destinations.dto.js';

/** A figure of the metrics: the destinations that are paused. */
export const pausedStatement = (): Statement => ({ text: 'select app.paused_destinations() as value' });

/**
 * The destinations that an admin manages. A row is locked with `for no key update` and never harder: an act that ends
 * holds the head of the receipt chain when its deliveries refer to the row, and locking the row needs that head.
 */
@Injectable()
export class Destinations {
  constructor(private readonly db: Db) {}

  /** The destinations of the workspace, the newest first. */
  list(
    scope: Scope,
    query: PageQuery,
  ): Promise<Page<WebhookDestinationEntity & { deliveries: OpenDeliveries }>> {
    const listing = {
      name: 'destinations',
      select: `${columnsOf(WebhookDestinationEntity, { of: 'p' })}, ${OPEN_DELIVERIES}`,
      from: 'webhook_destinations p',
      ...where({ 'p.workspace_id': scope.workspaceId }, 'p.deleted_at is null'),
      order: newestFirst('p.destination_id', 'p.created_at'),
    };
    return readPage(this.db, scope, listing, query);
  }

  /** Those to which something is sent, the newest first; a workspace has few. */
  receiving(scope: Scope): Promise<WebhookDestinationEntity[]> {
    return this.db.read(
      scope,
      `select ${columnsOf(WebhookDestinationEntity)} from webhook_destinations
       where workspace_id = $1 and deleted_at is null and status <> 'gone'
       order by created_at desc, destination_id desc limit $2`,
      [scope.workspaceId, MAX_DESTINATIONS],
    );
  }

  /** How many there are; until the transaction ends nobody else adds one. */
  async countForAdding(): Promise<number> {
    const { workspaceId } = this.db.unit.scope;
    const [, counted] = await this.db.unit.batch([
      {
        text: `select pg_advisory_xact_lock(hashtextextended('destinations ' || $1, 1))`,
        values: [workspaceId],
      },
      // A statement of its own sees rows added by the former holder of the lock.
      {
        text: 'select count(*) as total from webhook_destinations where workspace_id = $1 and deleted_at is null',
        values: [workspaceId],
      },
    ]);
    return (counted as { total: number }[])[0]!.total;
  }

  add(destination: WebhookDestinationEntity): void {
    this.db.insert(WebhookDestinationEntity, destination);
  }

  /** @throws NotFound also for one that was deleted */
  async lock(destinationId: string): Promise<WebhookDestinationEntity> {
    const destination = isId('whk', destinationId) ? await this.lockLive(destinationId) : undefined;
    if (!destination) throw new NotFound();
    return destination;
  }

  /** Locks the destination; undefined when it was deleted. */
  async lockLive(destinationId: string): Promise<WebhookDestinationEntity | undefined> {
    const { workspaceId } = this.db.unit.scope;
    const key = { workspaceId, destinationId };
    const destination = await this.db.lockOne(WebhookDestinationEntity, key, 'for no key update');
    return destination?.deletedAt === null ? destination : undefined;
  }

  /** Changes a destination that is locked. */
  update(
    { workspaceId, destinationId }: WebhookDestinationEntity,
    changes: Partial<WebhookDestinationEntity>,
  ): void {
    this.db.update(WebhookDestinationEntity, { workspaceId, destinationId }, changes);
  }

  /** A delivery has arrived at a destination that is locked. */
  recover({ workspaceId, destinationId }: WebhookDestinationEntity): void {
    this.db.write(
      `update webhook_destinations set status = case status when 'paused' then 'active' else status end,
         consecutive_failures = 0, fault = null, last_delivery_at = now()
       where workspace_id = $1 and destination_id = $2`,
      [workspaceId, destinationId],
    );
  }
}

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
