import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import { DELIVERY_WORK } from '../events/index.js';
import { Deliveries } from './deliveries.repository.js';
import { DestinationChanges } from './destination-changes.js';
import { viewOf } from './destination.js';
import { inASentence } from './destination-name.js';
import type { DestinationView } from './destinations.dto.js';
import { Destinations } from './destinations.repository.js';
import { EscalatedPauses } from './escalated-pauses.js';

/** Deletes a destination for good. Its row stays without secrets, so that its deliveries can be accounted for. */
@Injectable()
export class DeleteDestination {
  constructor(
    private readonly destinations: Destinations,
    private readonly deliveries: Deliveries,
    private readonly work: Work,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
    private readonly pauses: EscalatedPauses,
    private readonly changes: DestinationChanges,
  ) {}

  /** Answers the destination as it was last. @throws NotFound */
  async execute(caller: Caller, destinationId: string): Promise<DestinationView> {
    const destination = await this.destinations.lock(destinationId);
    this.destinations.update(destination, {
      deletedAt: this.clock.now(),
      sealedSecret: null,
      formerSecrets: [],
    });
    const deliveriesEnded = await this.deliveries.endWaiting(destinationId);
    this.work.closeBreaker(DELIVERY_WORK, destinationId);
    const summary = `${caller.name} deleted ${inASentence(destination)}.`;
    this.receipts.append({
      actor: actorOf(caller),
      action: 'webhook.deleted',
      entity: { type: 'webhook_destination', id: destinationId },
      summary,
      details: { deliveriesEnded },
    });
    await this.pauses.ended(destination, summary);
    await this.changes.tell('deleted', destination);
    return viewOf(destination);
  }
}
