import { Injectable, type OnModuleInit } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import { CONNECTOR_RED, EscalationOptions, RESUME } from '../escalations/index.js';
import { DELIVERY_WORK } from '../events/index.js';
import { DestinationChanges } from './destination-changes.js';
import { assertReceives, viewOf } from './destination.js';
import { inASentence } from './destination-name.js';
import type { DestinationView } from './destinations.dto.js';
import { Destinations } from './destinations.repository.js';
import { EscalatedPauses } from './escalated-pauses.js';

/** Ends the pause of a destination by hand; what waited for it goes out at once. */
@Injectable()
export class ResumeDestination implements OnModuleInit {
  constructor(
    private readonly destinations: Destinations,
    private readonly work: Work,
    private readonly receipts: Receipts,
    private readonly pauses: EscalatedPauses,
    private readonly options: EscalationOptions,
    private readonly changes: DestinationChanges,
  ) {}

  onModuleInit(): void {
    this.options.register(CONNECTOR_RED, 'webhook_destination', {
      lock: ({ entityId }) => this.destinations.lock(entityId),
      options: {
        [RESUME]: {
          role: 'admin',
          effect: 'Ends the pause; the events that have waited are delivered at once.',
          run: async ({ entityId }, { caller }) => {
            return sentenceOf(caller, await this.execute(caller, entityId));
          },
        },
      },
    });
  }

  /** One that is active stays as it is, without a receipt. @throws NotFound, InvalidTransition for one that is gone */
  async execute(caller: Caller, destinationId: string): Promise<DestinationView> {
    const destination = await this.destinations.lock(destinationId);
    assertReceives(destination);
    if (destination.status === 'active') return viewOf(destination);
    this.destinations.update(destination, { status: 'active', consecutiveFailures: 0 });
    this.work.closeBreaker(DELIVERY_WORK, destinationId);
    const { consecutiveFailures } = destination;
    const summary = sentenceOf(caller, destination);
    this.receipts.append({
      actor: actorOf(caller),
      action: 'webhook.resumed',
      entity: { type: 'webhook_destination', id: destinationId },
      summary,
      details: { consecutiveFailures },
    });
    await this.pauses.ended(destination, summary);
    await this.changes.tell('changed', destination);
    return viewOf({ ...destination, status: 'active', consecutiveFailures: 0 });
  }
}

function sentenceOf(
  { name }: Caller,
  destination: Pick<DestinationView, 'destinationId' | 'description' | 'url'>,
): string {
  return `${name} resumed ${inASentence(destination)}.`;
}
