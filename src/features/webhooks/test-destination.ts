import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Events } from '../events/index.js';
import type { DeliveryView } from './deliveries.dto.js';
import { assertReceives } from './destination.js';
import { inASentence } from './destination-name.js';
import { Destinations } from './destinations.repository.js';

const MESSAGE = 'This is a test event; nothing has happened.';

/** Sends an event to one destination alone, to see that it receives and verifies. */
@Injectable()
export class TestDestination {
  constructor(
    private readonly destinations: Destinations,
    private readonly events: Events,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /** @throws NotFound, InvalidTransition for one that is gone */
  async execute(caller: Caller, destinationId: string): Promise<DeliveryView> {
    const destination = await this.destinations.lock(destinationId);
    assertReceives(destination);
    const event = 'webhook.test';
    const payload = { destinationId, message: MESSAGE };
    const { deliveryId, eventId, requestId } = this.events.recordFor(destinationId, event, payload);
    this.receipts.append({
      actor: actorOf(caller),
      action: 'webhook.tested',
      entity: { type: 'webhook_destination', id: destinationId },
      summary: `${caller.name} sent a test to ${inASentence(destination)}.`,
      details: { eventId },
    });
    return {
      deliveryId,
      eventId,
      event,
      destinationId,
      status: 'pending',
      attempts: [],
      nextAttemptAt: this.clock.now(),
      lost: false,
      requestId,
    };
  }
}
