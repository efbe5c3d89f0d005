import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import { DELIVERY_WORK } from '../events/index.js';
import { assertAllowed, type DestinationVerdict } from './destination-check.js';
import { DestinationChanges } from './destination-changes.js';
import { viewOf } from './destination.js';
import { destinationName, inASentence } from './destination-name.js';
import type { ChangeDestinationBody, DestinationView } from './destinations.dto.js';
import { Destinations } from './destinations.repository.js';
import { EscalatedPauses } from './escalated-pauses.js';

const CHANGEABLE = ['description', 'url', 'events'] as const;

/**
 * Changes the name, the address or the events of a destination. What waits goes to the new address; what an earlier receiver did
 * says nothing about another one, so a destination with a new address is active.
 */
@Injectable()
export class ChangeDestination {
  constructor(
    private readonly destinations: Destinations,
    private readonly work: Work,
    private readonly receipts: Receipts,
    private readonly pauses: EscalatedPauses,
    private readonly changes: DestinationChanges,
  ) {}

  /**
   * Where nothing differs it stays as it is, without a receipt.
   * @param verdict on the address, where the body has one
   * @throws NotFound, InvalidDestination
   */
  async execute(
    caller: Caller,
    destinationId: string,
    body: ChangeDestinationBody,
    verdict: DestinationVerdict | undefined,
  ): Promise<DestinationView> {
    const before = await this.destinations.lock(destinationId);
    const { description = before.description, url = before.url, events = before.events } = body;
    const isMoved = url !== before.url;
    if (isMoved) assertAllowed(verdict!);
    const after = {
      ...before,
      ...{ description, url, events },
      ...(isMoved && { status: 'active' as const, consecutiveFailures: 0 }),
    };
    const changed = CHANGEABLE.filter((field) => String(after[field]) !== String(before[field]));
    if (changed.length === 0) return viewOf(before);
    const { status, consecutiveFailures } = after;
    this.destinations.update(before, { description, url, events, status, consecutiveFailures });
    const summary = `${caller.name} changed the ${changed.map((one) => WORDS[one]).join(' and the ')} of ${inASentence(before)}.`;
    this.receipts.append({
      actor: actorOf(caller),
      action: 'webhook.changed',
      entity: { type: 'webhook_destination', id: destinationId },
      summary,
      // Every member reads receipts, and only admins read addresses.
      details: { changed, name: destinationName(after), events },
    });
    if (isMoved) {
      this.work.closeBreaker(DELIVERY_WORK, destinationId);
      await this.pauses.ended(before, summary);
    }
    await this.changes.tell('changed', after);
    return viewOf(after);
  }
}

const WORDS = { description: 'name', url: 'address', events: 'events' } as const;
