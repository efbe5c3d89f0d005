import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { RequestContext } from '../../platform/kernel/request-context.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Events } from '../events/events.js';
import type { QueuedTest } from './deliveries.dto.js';
import { assertReceives } from './destination.js';
import { Destinations } from './destinations.repository.js';
import { placeOf } from './place-of.js';

/** Sends an event to one destination alone, to see that it receives and verifies. */
@Injectable()
export class TestDestination {
  constructor(
    private readonly destinations: Destinations,
    private readonly events: Events,
    private readonly receipts: Receipts,
  ) {}
}
