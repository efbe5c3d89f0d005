import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { type Listing, pageOf, pageStatements, where } from '../../platform/database/listing.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { isId } from '../../platform/kernel/ids.js';
import type { Page, PageQuery } from '../../platform/kernel/pages.dto.js';
import type { DeliverySummary, DeliveryView } from './deliveries.dto.js';
import type { WebhookDeliveryEntity } from './delivery.entity.js';
import type { WebhookDestinationEntity } from './destination.entity.js';

/** While one is made, due_at is the end of a lease and no attempt. */
const FACTS = `d.delivery_id, d.event_id, d.event, d.destination_id, d.status,
  case when d.status <> 'sending' then d.due_at end as next_attempt_at, e.request_id`;
const VIEW = `${FACTS}, d.attempts`;
/** The answers of receivers stand in the single record only. */
const SUMMARY = `${FACTS}, (select coalesce(jsonb_agg(a - 'answer'), '[]') from jsonb_array_elements(d.attempts) a)
  as attempts`;
const EVENT = 'join webhook_events e on e.workspace_id = d.workspace_id and e.event_id = d.event_id';

/** A delivery that was made before, with where it went. */
export type PastDelivery = Pick<WebhookDeliveryEntity, 'deliveryId' | 'destinationId' | 'eventId' | 'event'> &
  Pick<WebhookDestinationEntity, 'status' | 'url' | 'deletedAt'>;

/** What became of each delivery, for a person to read, and deliveries that a person asks for. */
@Injectable()
export class DeliveryLog {
  constructor(private readonly db: Db) {}

  /**
   * The deliveries to a destination, the newest first; those to a deleted one can still be accounted for.
   * @throws NotFound
   */
  async list(scope: Scope, destinationId: string, query: PageQuery): Promise<Page<DeliverySummary>> {
    if (!isId('whk', destinationId)) throw new NotFound();
    const listing: Listing = {
      name: 'deliveries',
      select: SUMMARY,
      from: 'webhook_deliveries d',
      joins: EVENT,
      ...where({ 'd.workspace_id': scope.workspaceId, 'd.destination_id': destinationId }),
      order: [{ column: 'd.delivery_id', kind: 'text', descending: true }],
    };
    const [destinations, rows, counted] = await this.db.readAll(scope, [
      {
        text: 'select 1 from webhook_destinations where workspace_id = $1 and destination_id = $2',
        values: [scope.workspaceId, destinationId],
      },
      ...pageStatements(listing, query),
    ]);
    if (destinations!.length === 0) throw new NotFound();
    return pageOf(listing, query, rows!, counted!);
  }

  /** @throws NotFound */
  async get(scope: Scope, deliveryId: string): Promise<DeliveryView> {
    if (!isId('dlv', deliveryId)) throw new NotFound();
    const [delivery] = await this.db.read<DeliveryView>(
      scope,
      `select ${VIEW} from webhook_deliveries d ${EVENT} where d.workspace_id = $1 and d.delivery_id = $2`,
      [scope.workspaceId, deliveryId],
    );
    if (!delivery) throw new NotFound();
    return delivery;
  }

  /**
   * The delivery with its destination, which stays as it is until the transaction ends.
   * @throws NotFound
   */
  async holdPast(deliveryId: string): Promise<PastDelivery> {
    if (!isId('dlv', deliveryId)) throw new NotFound();
    const [past] = await this.db.query<PastDelivery>(
      `select d.delivery_id, d.destination_id, d.event_id, d.event, p.status, p.url, p.deleted_at
       from webhook_deliveries d
       join webhook_destinations p on p.workspace_id = d.workspace_id and p.destination_id = d.destination_id
       where d.workspace_id = $1 and d.delivery_id = $2 for share of p`,
      [this.db.unit.scope.workspaceId, deliveryId],
    );
    if (!past) throw new NotFound();
    return past;
  }

  /** One more delivery of an event that is there, due at once by the clock of the database. */
  async add({
    destinationId,
    eventId,
  }: Pick<WebhookDeliveryEntity, 'destinationId' | 'eventId'>): Promise<DeliveryView> {
    const [added] = await this.db.query<DeliveryView>(
      `with d as (
         insert into webhook_deliveries (delivery_id, workspace_id, destination_id, event_id, event, status, due_at, created_at)
         select app.new_id('dlv'), e.workspace_id, $2, e.event_id, e.event, 'pending', now(), now()
         from webhook_events e where e.workspace_id = $1 and e.event_id = $3
         returning *
       )
       select ${VIEW} from d join webhook_events e on e.workspace_id = d.workspace_id and e.event_id = d.event_id`,
      [this.db.unit.scope.workspaceId, destinationId, eventId],
    );
    return added!;
  }
}
