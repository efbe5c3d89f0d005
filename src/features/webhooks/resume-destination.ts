import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { assertReceives, viewOf } from './destination.js';
import type { DestinationView } from './destinations.dto.js';
import { Destinations } from './destinations.repository.js';
import { DispatcherBell } from './dispatcher-bell.js';
import { placeOf } from './place-of.js';

/** Ends the pause of a destination by hand; what waited for it goes out at once. */
@Injectable()
export class ResumeDestination {
  constructor(
    private readonly destinations: Destinations,
    private readonly bell: DispatcherBell,
    private readonly receipts: Receipts,
  ) {}

  /** One that is active stays as it is, without a receipt. @throws NotFound, InvalidTransition for one that is gone */
  async execute(caller: Caller, destinationId: string): Promise<DestinationView> {
    const destination = await this.destinations.lock(destinationId);
    assertReceives(destination);
    if (destination.status === 'active') return viewOf(destination);
    this.destinations.resume(destinationId);
    this.bell.ring(destinationId);
    const { url, consecutiveFailures } = destination;
    this.receipts.append({
      actor: actorOf(caller),
      action: 'webhook.resumed',
      entity: { type: 'webhook_destination', id: destinationId },
      summary: `${caller.name} resumed the destination ${placeOf(url)}.`,
      details: { url: placeOf(url), consecutiveFailures },
    });
    return viewOf({ ...destination, status: 'active', consecutiveFailures: 0 });
  }
}
