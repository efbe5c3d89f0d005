import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { newestFirst, readPage, where } from '../../platform/database/listing.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { isId } from '../../platform/kernel/ids.js';
import type { Page, PageQuery } from '../../platform/kernel/pages.dto.js';
import { WebhookDestinationEntity } from './destination.entity.js';

const COLUMNS = columnsOf(WebhookDestinationEntity);

/**
 * The destinations that an admin manages. A row is locked with `for no key update` and never harder: an act that ends
 * holds the head of the receipt chain when its deliveries refer to the row, and whoever locks the row wants that head.
 */
@Injectable()
export class Destinations {
  constructor(private readonly db: Db) {}

  /** The destinations of the workspace, the newest first. */
  list(scope: Scope, query: PageQuery): Promise<Page<WebhookDestinationEntity>> {
    const listing = {
      name: 'destinations',
      select: COLUMNS,
      from: 'webhook_destinations',
      ...where({ workspace_id: scope.workspaceId }, 'deleted_at is null'),
      order: newestFirst('destination_id'),
    };
    return readPage(this.db, scope, listing, query);
  }

  /** How many there are; until the transaction ends nobody else adds one. */
  async countForAdding(): Promise<number> {
    const { workspaceId } = this.db.unit.scope;
    const [, counted] = await this.db.unit.batch([
      {
        text: `select pg_advisory_xact_lock(hashtextextended('destinations ' || $1, 1))`,
        values: [workspaceId],
      },
      // A statement of its own sees what was added by whoever held the lock before.
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
    if (!isId('whk', destinationId)) throw new NotFound();
    const { workspaceId } = this.db.unit.scope;
    const destination = await this.db.lockOne(
      WebhookDestinationEntity,
      { workspaceId, destinationId },
      'for no key update',
    );
    if (!destination || destination.deletedAt !== null) throw new NotFound();
    return destination;
  }

  /** Puts another secret in force; the one before it signs as well until then. */
  rotateSecret(destinationId: string, sealedSecret: string, previousUntil: number): void {
    this.db.write(
      `update webhook_destinations set sealed_secret = $3, previous_sealed_secret = sealed_secret, previous_until = $4
       where workspace_id = $1 and destination_id = $2`,
      [this.db.unit.scope.workspaceId, destinationId, sealedSecret, new Date(previousUntil)],
    );
  }

  /** Ends a pause. */
  resume(destinationId: string): void {
    this.db.update(
      WebhookDestinationEntity,
      { workspaceId: this.db.unit.scope.workspaceId, destinationId },
      { status: 'active', consecutiveFailures: 0, probeAt: null },
    );
  }

  /**
   * Deletes a destination: its secrets are gone and what still waits for it is given up. Answers the row with how many
   * deliveries that were.
   * @throws NotFound
   */
  async delete(
    destinationId: string,
    at: number,
  ): Promise<WebhookDestinationEntity & { deliveriesEnded: number }> {
    if (!isId('whk', destinationId)) throw new NotFound();
    const [deleted] = await this.db.query<WebhookDestinationEntity & { deliveriesEnded: number }>(
      `with deleted as (
         update webhook_destinations
         set deleted_at = $3, sealed_secret = null, previous_sealed_secret = null, previous_until = null
         where workspace_id = $1 and destination_id = $2 and deleted_at is null returning ${COLUMNS}
       ), ended as (
         update webhook_deliveries w set status = 'dead', due_at = null from deleted d
         where w.workspace_id = d.workspace_id and w.destination_id = d.destination_id and w.due_at is not null
         returning 1
       )
       select ${COLUMNS}, (select count(*) from ended) as deliveries_ended from deleted`,
      [this.db.unit.scope.workspaceId, destinationId, new Date(at)],
    );
    if (!deleted) throw new NotFound();
    return deleted;
  }
}
