import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { CURRENT_VERSION } from '../../platform/http/api-version.js';
import { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { newSigningSecret } from '../../platform/signatures/event-signature.js';
import { EVENT_TYPES, type SubscribableEvent } from '../events/index.js';
import { DestinationChanges } from './destination-changes.js';
import { assertAllowed, type DestinationVerdict } from './destination-check.js';
import type { WebhookDestinationEntity } from './destination.entity.js';
import { MAX_DESTINATIONS, viewOf } from './destination.js';
import { destinationName, inASentence } from './destination-name.js';
import { DestinationSecrets } from './destination-secrets.js';
import type {
  DestinationView,
  NewDestination,
  RegisterPartnerWebhookBody,
  RegisterWebhookBody,
} from './destinations.dto.js';
import { Destinations } from './destinations.repository.js';
import { TooManyDestinations } from './webhooks.errors.js';

interface Registration {
  description: string;
  url: string;
  events: readonly SubscribableEvent[];
  secret: string;
}

/** Registers an address that events go to (CONTRACT, Webhooks). */
@Injectable()
export class RegisterDestination {
  constructor(
    private readonly destinations: Destinations,
    private readonly secrets: DestinationSecrets,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
    private readonly changes: DestinationChanges,
  ) {}

  /**
   * With the secret that the customer chose, which no answer shows.
   * @throws InvalidDestination, TooManyDestinations
   */
  async withChosenSecret(
    caller: Caller,
    body: RegisterWebhookBody,
    verdict: DestinationVerdict,
  ): Promise<DestinationView> {
    const events = body.events ?? [body.event!];
    const { url, secret } = body;
    return viewOf(await this.register(caller, { description: '', url, events, secret }, verdict));
  }

  /**
   * With a secret made here; the answer is the only one that shows it.
   * @throws InvalidDestination, TooManyDestinations
   */
  async withNewSecret(
    caller: Caller,
    body: RegisterPartnerWebhookBody,
    verdict: DestinationVerdict,
  ): Promise<NewDestination> {
    const { description, url, events = EVENT_TYPES } = body;
    const secret = newSigningSecret();
    return { ...viewOf(await this.register(caller, { description, url, events, secret }, verdict)), secret };
  }

  private async register(
    caller: Caller,
    { description, url, events, secret }: Registration,
    verdict: DestinationVerdict,
  ): Promise<WebhookDestinationEntity> {
    assertAllowed(verdict);
    const count = await this.destinations.countForAdding();
    if (count >= MAX_DESTINATIONS) throw new TooManyDestinations({ details: { limit: MAX_DESTINATIONS } });
    const destinationId = newId('whk');
    const destination: WebhookDestinationEntity = {
      destinationId,
      workspaceId: caller.workspaceId,
      description,
      url,
      events: [...events],
      status: 'active',
      apiVersion: CURRENT_VERSION,
      sealedSecret: this.secrets.seal(destinationId, secret),
      formerSecrets: [],
      consecutiveFailures: 0,
      fault: null,
      lastDeliveryAt: null,
      createdBy: actorOf(caller),
      createdAt: this.clock.now(),
      deletedAt: null,
    };
    this.destinations.add(destination);
    this.receipts.append({
      actor: actorOf(caller),
      action: 'webhook.created',
      entity: { type: 'webhook_destination', id: destinationId },
      summary: `${caller.name} registered ${inASentence(destination)} for events.`,
      details: { name: destinationName(destination), events: destination.events },
    });
    await this.changes.tell('registered', destination);
    return destination;
  }
}
