import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { EventRow } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import { RequestContext } from '../../platform/kernel/request-context.js';
import { Work } from '../../platform/work/work.js';
import { DELIVERY_WORK, type EventPayloads, type EventType } from './event.js';

/**
 * Tells the outside what has happened (SPECIFICATION, Outbound webhooks). An event and its deliveries are written in
 * the transaction of the act, so that none exists without the other; sending begins after the COMMIT.
 */
@Injectable()
export class Events {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly work: Work,
  ) {}

  /**
   * Adds an event to the open transaction, for every destination that receives such events; nothing is kept of it when
   * there is none.
   */
  record<T extends EventType>(event: T, payload: EventPayloads[T]): void {
    this.add(event, payload);
  }

  /** Adds an event for one destination alone, whatever it has chosen to receive. */
  recordFor<T extends EventType>(
    destinationId: string,
    event: T,
    payload: EventPayloads[T],
  ): Pick<EventRow, 'eventId' | 'requestId'> & { deliveryId: string } {
    const only = { destinationId, deliveryId: newId('dlv') };
    const { eventId, requestId } = this.add(event, payload, only);
    return { eventId, requestId, deliveryId: only.deliveryId };
  }

  private add<T extends EventType>(event: T, payload: EventPayloads[T], only?: EventRow['only']): EventRow {
    const { unit } = this.db;
    const { workspaceId } = unit.scope;
    const body = JSON.stringify({ event, timestamp: this.clock.now(), workspaceId, payload });
    if (unit.events.length === 0) this.work.notify(DELIVERY_WORK, () => unit.reached);
    const row: EventRow = {
      eventId: newId('evt'),
      event,
      requestId: RequestContext.current?.requestId ?? newId('req'),
      // The payload stays open: the head of the chain is added where it is known.
      bodyStart: body.slice(0, -'}}'.length),
      ...(only && { only }),
    };
    unit.events.push(row);
    return row;
  }
}
