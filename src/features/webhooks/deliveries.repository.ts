import { Injectable } from '@nestjs/common';
import type { Statement } from '../../platform/database/batch.js';
import { Db } from '../../platform/database/db.js';
import { type Listing, newestFirst, pageOf, pageStatements, where } from '../../platform/database/listing.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { isId, newId } from '../../platform/kernel/ids.js';
import type { Page } from '../../platform/kernel/pages.dto.js';
import type { WorkItem } from '../../platform/work/work-item.js';
import { Work } from '../../platform/work/work.js';
import { DELIVERY_WORK } from '../events/index.js';
import type { DeliveriesQuery, DeliverySummary, DeliveryView } from './deliveries.dto.js';
import type {
  StoredDeliveryStatus,
  WebhookDeliveryEntity,
  WebhookDestinationEntity,
} from './destination.entity.js';
import type { Attempt } from './delivery.js';

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

/** A delivery `d` that was given up, whose event has neither arrived at its destination nor been sent there again since. */
const IS_LOST = `(d.status = 'dead' and not exists (select from webhook_deliveries o
  where o.event_id = d.event_id and o.destination_id = d.destination_id and o.delivery_id <> d.delivery_id
    and (o.status = 'delivered' or (o.created_at, o.delivery_id) > (d.created_at, d.delivery_id))))`;

const COUNTED = 1_000;
/** So much of what an event is about is enough to tell it from others. */
const ABOUT_LENGTH = 200;

const LOST = `(select count(*) from (select from webhook_deliveries d
  where d.destination_id = p.destination_id and ${IS_LOST} limit ${COUNTED}) l)`;

/** What has not arrived at a destination `p`. One that is paused is not tried before its breaker opens. */
export const OPEN_DELIVERIES = `jsonb_build_object(
  'lost', ${LOST},
  'waiting', (select count(*) from (select from webhook_deliveries d
    where d.destination_id = p.destination_id and d.status in ('pending', 'failed') limit ${COUNTED}) w),
  'failing', (select count(*) from (select from webhook_deliveries d
    where d.destination_id = p.destination_id and d.status = 'failed' limit ${COUNTED}) f),
  'nextAttemptAt', (select round(extract(epoch from nullif(greatest(w.due_at, b.opens_at), 'infinity')) * 1000)::bigint
    from work_items w left join work_breakers b on b.kind = w.kind and b.queue = w.queue
    where w.kind = '${DELIVERY_WORK}' and w.queue = p.destination_id and not w.claimed order by w.due_at limit 1)) as deliveries`;

/** How many deliveries of a workspace were lost, as `lost`. */
export const lostStatement = ({ workspaceId }: Scope): Statement => ({
  text: `select coalesce(sum(${LOST}), 0)::bigint as lost from webhook_destinations p
    where p.workspace_id = $1 and p.deleted_at is null`,
  values: [workspaceId],
});

const SHOWN: Record<NonNullable<DeliveriesQuery['show']>, string> = {
  lost: IS_LOST,
  waiting: `d.status in ('pending', 'failed')`,
  delivered: `d.status = 'delivered'`,
};

/**
 * A delivery as it is shown. When the next attempt is due stands with its work, and a destination that is paused is not
 * tried before its breaker opens; while an attempt is made, that time is the end of a lease.
 */
const FACTS = `d.delivery_id, d.event_id, d.event, d.destination_id,
  case when w.claimed then 'sending' else d.status end as status,
  case when not w.claimed then nullif(greatest(w.due_at, b.opens_at), 'infinity') end as next_attempt_at,
  ${IS_LOST} as lost, e.request_id, left(coalesce(v.payload->>'title', v.payload->>'headline', i.text, q.title, v.payload->>'text',
    case when d.event = 'revenue.recorded' then concat_ws(' ', v.payload->>'amount', v.payload->>'currency', v.payload->>'source') end,
    v.payload->>'packId', v.payload->>'reason', v.payload->>'summary'), ${ABOUT_LENGTH}) as about,
  (select o.delivery_id from webhook_deliveries o where o.event_id = d.event_id and o.destination_id = d.destination_id
    and (o.created_at, o.delivery_id) < (d.created_at, d.delivery_id)
    order by o.created_at desc, o.delivery_id desc limit 1) as previous_delivery_id`;

const VIEW = `${FACTS}, d.attempts`;

/** The answers of receivers stand in the single record only. */
const SUMMARY = `${FACTS}, (select coalesce(jsonb_agg(a - 'answer'), '[]') from jsonb_array_elements(d.attempts) a)
  as attempts`;

const JOINED = `join webhook_events e on e.workspace_id = d.workspace_id and e.event_id = d.event_id
  left join work_items w on w.workspace_id = d.workspace_id and w.kind = '${DELIVERY_WORK}' and w.id = d.delivery_id
  left join work_breakers b on b.workspace_id = w.workspace_id and b.kind = w.kind and b.queue = w.queue
  cross join lateral (select e.body::jsonb->'payload' as payload) v
  left join directives i on i.workspace_id = d.workspace_id and i.directive_id = v.payload->>'directiveId'
  left join action_requests q on q.workspace_id = d.workspace_id and q.action_request_id = v.payload->>'actionRequestId'`;

const ONE = `select ${VIEW} from webhook_deliveries d ${JOINED} where d.workspace_id = $1 and d.delivery_id = $2`;

/** A delivery that was made before, with where it went. */
export type PastDelivery = Pick<WebhookDeliveryEntity, 'deliveryId' | 'destinationId' | 'eventId' | 'event'> &
  Pick<WebhookDestinationEntity, 'status' | 'description' | 'url' | 'deletedAt'>;

/**
 * What is sent, and what became of it. Locks are taken in one order everywhere: the destination, its deliveries, their work; so
 * two who lock in turn cannot wait for each other.
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

  /**
   * The deliveries to a destination, the newest first; those to a deleted one can still be accounted for.
   * @throws NotFound
   */
  async list(scope: Scope, destinationId: string, query: DeliveriesQuery): Promise<Page<DeliverySummary>> {
    if (!isId('whk', destinationId)) throw new NotFound();
    const listing: Listing = {
      name: `deliveries ${query.show ?? ''}`,
      select: SUMMARY,
      from: 'webhook_deliveries d',
      joins: JOINED,
      ...where(
        { 'd.workspace_id': scope.workspaceId, 'd.destination_id': destinationId },
        ...(query.show ? [SHOWN[query.show]] : []),
      ),
      order: newestFirst('d.delivery_id', 'd.created_at'),
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
    const [delivery] = await this.db.read<DeliveryView>(scope, ONE, [scope.workspaceId, deliveryId]);
    if (!delivery) throw new NotFound();
    return delivery;
  }

  /**
   * The delivery with its destination, which stays as it is until the transaction ends, and to which nothing else is sent again
   * before that.
   * @throws NotFound
   */
  async lockPast(deliveryId: string): Promise<PastDelivery> {
    if (!isId('dlv', deliveryId)) throw new NotFound();
    const [past] = await this.db.query<PastDelivery>(
      `select d.delivery_id, d.destination_id, d.event_id, d.event, p.status, p.description, p.url, p.deleted_at
       from webhook_deliveries d
       join webhook_destinations p on p.workspace_id = d.workspace_id and p.destination_id = d.destination_id
       where d.workspace_id = $1 and d.delivery_id = $2 for no key update of p`,
      [this.db.unit.scope.workspaceId, deliveryId],
    );
    if (!past) throw new NotFound();
    return past;
  }

  /**
   * Has the delivery of an event that is still to be tried by itself tried at once, and answers it; undefined: there is none. An
   * attempt that is under way goes on.
   * @param orDelivered answers the one that arrived, where the event has
   */
  async expedite(
    { destinationId, eventId }: Pick<PastDelivery, 'destinationId' | 'eventId'>,
    orDelivered: boolean,
  ): Promise<DeliveryView | undefined> {
    const [standing] = await this.db.query<{ deliveryId: string }>(
      `select delivery_id from webhook_deliveries
       where workspace_id = $1 and destination_id = $2 and event_id = $3 and status = any($4)
       order by status = 'delivered' desc, created_at desc limit 1 for no key update`,
      [
        this.db.unit.scope.workspaceId,
        destinationId,
        eventId,
        ['pending', 'failed', ...(orDelivered ? ['delivered'] : [])],
      ],
    );
    if (!standing) return undefined;
    this.work.expedite(DELIVERY_WORK, { id: standing.deliveryId, queue: destinationId });
    return this.view(standing.deliveryId);
  }

  /** Makes one more delivery of an event that is there, due at once. */
  async add({
    destinationId,
    eventId,
  }: Pick<PastDelivery, 'destinationId' | 'eventId'>): Promise<DeliveryView> {
    const { workspaceId } = this.db.unit.scope;
    const deliveryId = newId('dlv');
    this.db.write(
      `insert into webhook_deliveries (delivery_id, workspace_id, destination_id, event_id, event, status, created_at)
       select $4, e.workspace_id, $2, e.event_id, e.event, 'pending', now()
       from webhook_events e where e.workspace_id = $1 and e.event_id = $3`,
      [workspaceId, destinationId, eventId, deliveryId],
    );
    this.work.enqueue(DELIVERY_WORK, { id: deliveryId, queue: destinationId });
    return this.view(deliveryId);
  }

  private async view(deliveryId: string): Promise<DeliveryView> {
    const [delivery] = await this.db.query<DeliveryView>(ONE, [this.db.unit.scope.workspaceId, deliveryId]);
    return delivery!;
  }
}

function updated({ workspaceId, id }: WorkItem, status: StoredDeliveryStatus, attempt?: Attempt) {
  return {
    text: `update webhook_deliveries set status = $3, attempts = attempts || $4::jsonb
      where workspace_id = $1 and delivery_id = $2 and status in ('pending', 'failed')`,
    values: [workspaceId, id, status, JSON.stringify(attempt ? [attempt] : [])],
  };
}
