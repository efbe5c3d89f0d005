import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import type { DeliveryView } from './deliveries.dto.js';
import { DeliveryLog } from './delivery-log.repository.js';
import { assertReceives } from './destination.js';
import { inASentence } from './destination-name.js';

/** Sends an event once more, as a new delivery with the five sends of any other. */
@Injectable()
export class Redeliver {
  constructor(
    private readonly log: DeliveryLog,
    private readonly receipts: Receipts,
  ) {}

  /** @throws NotFound, InvalidTransition when its destination receives nothing any more */
  async execute(caller: Caller, deliveryId: string): Promise<DeliveryView> {
    const past = await this.log.lockPast(deliveryId);
    assertReceives(past);
    const delivery = await this.log.add(past);
    this.receipts.append({
      actor: actorOf(caller),
      action: 'delivery.redelivered',
      entity: { type: 'webhook_delivery', id: delivery.deliveryId },
      summary: `${caller.name} had ${past.event} delivered to ${inASentence(past)} again.`,
      details: {
        event: past.event,
        eventId: past.eventId,
        destinationId: past.destinationId,
        previousDeliveryId: deliveryId,
      },
    });
    return delivery;
  }
}
