import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import { DELIVERY_WORK } from '../events/event.js';
import { assertReceives, viewOf } from './destination.js';
import type { DestinationView } from './destinations.dto.js';
import { Destinations } from './destinations.repository.js';
import { redactedUrl } from './redacted-url.js';

/** Ends the pause of a destination by hand; what waited for it goes out at once. */
@Injectable()
export class ResumeDestination {
  constructor(
    private readonly destinations: Destinations,
    private readonly work: Work,
    private readonly receipts: Receipts,
  ) {}

  /** One that is active stays as it is, without a receipt. @throws NotFound, InvalidTransition for one that is gone */
  async execute(caller: Caller, destinationId: string): Promise<DestinationView> {
    const destination = await this.destinations.lock(destinationId);
    assertReceives(destination);
    if (destination.status === 'active') return viewOf(destination);
    this.destinations.update(destination, { status: 'active', consecutiveFailures: 0 });
    this.work.closeBreaker(DELIVERY_WORK, destinationId);
    const { url, consecutiveFailures } = destination;
    this.receipts.append({
      actor: actorOf(caller),
      action: 'webhook.resumed',
      entity: { type: 'webhook_destination', id: destinationId },
      summary: `${caller.name} resumed the destination ${redactedUrl(url)}.`,
      details: { url: redactedUrl(url), consecutiveFailures },
    });
    return viewOf({ ...destination, status: 'active', consecutiveFailures: 0 });
  }
}
