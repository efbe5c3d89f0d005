import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Events } from '../events/events.js';
import type { QueuedTest } from './deliveries.dto.js';
import { assertReceives } from './destination.js';
import { Destinations } from './destinations.repository.js';
import { placeOf } from './place-of.js';

const MESSAGE = 'This is a test. Nothing has happened but that somebody asked for it.';

/** Sends an event to one destination alone, to see that it receives and verifies. */
@Injectable()
export class TestDestination {
  constructor(
    private readonly destinations: Destinations,
    private readonly events: Events,
    private readonly receipts: Receipts,
  ) {}

  /**
   * Answers the event and not its delivery: that gets its id with the COMMIT, and what is kept of the answer for a
   * replay is written with it.
   * @throws NotFound, InvalidTransition for one that is gone
   */
  async execute(caller: Caller, destinationId: string): Promise<QueuedTest> {
    const destination = await this.destinations.lock(destinationId);
    assertReceives(destination);
    const event = 'webhook.test';
    const eventId = this.events.record(event, { destinationId, message: MESSAGE }, destinationId);
    this.receipts.append({
      actor: actorOf(caller),
      action: 'webhook.tested',
      entity: { type: 'webhook_destination', id: destinationId },
      summary: `${caller.name} sent a test to ${placeOf(destination.url)}.`,
      details: { url: placeOf(destination.url), eventId },
    });
    return { eventId, event, destinationId };
  }
}
