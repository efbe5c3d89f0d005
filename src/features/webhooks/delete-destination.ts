import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { viewOf } from './destination.js';
import type { DestinationView } from './destinations.dto.js';
import { Destinations } from './destinations.repository.js';
import { placeOf } from './place-of.js';

/** Deletes a destination for good. Its row stays without secrets, so that its deliveries can be accounted for. */
@Injectable()
export class DeleteDestination {
  constructor(
    private readonly destinations: Destinations,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /** Answers the destination as it was last. @throws NotFound */
  async execute(caller: Caller, destinationId: string): Promise<DestinationView> {
    const deleted = await this.destinations.delete(destinationId, this.clock.now());
    const { url, deliveriesEnded } = deleted;
    this.receipts.append({
      actor: actorOf(caller),
      action: 'webhook.deleted',
      entity: { type: 'webhook_destination', id: destinationId },
      summary: `${caller.name} deleted the destination ${placeOf(url)}.`,
      details: { url: placeOf(url), deliveriesEnded },
    });
    return viewOf(deleted);
  }
}
