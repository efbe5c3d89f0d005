import { Injectable, type OnModuleInit } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { CURRENT_VERSION } from '../../platform/http/api-version.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition, ValidationFailed } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { newSigningSecret } from '../../platform/signatures/event-signature.js';
import { Work } from '../../platform/work/work.js';
import { CONNECTOR_RED, EscalationOptions, Escalations, RESUME } from '../escalations/index.js';
import { DELIVERY_WORK, EVENT_TYPES, Events, type SubscribableEvent } from '../events/index.js';
import { StandingOrders } from '../standing-orders/index.js';
import type { DeliveryView } from './deliveries.dto.js';
import { Deliveries } from './deliveries.repository.js';
import { assertAllowed, type DestinationVerdict } from './destination-check.js';
import { destinationName, inASentence } from './destination-name.js';
import { DestinationSecrets } from './destination-secrets.js';
import type { FormerSecret, WebhookDestinationEntity } from './destination.entity.js';
import {
  assertReceives,
  entityOf,
  MAX_DESTINATIONS,
  MAX_FORMER_SECRETS,
  OVERLAP_MS,
  viewOf,
} from './destination.js';
import type {
  ChangeDestinationBody,
  DestinationView,
  NewDestination,
  RegisterPartnerWebhookBody,
  RegisterWebhookBody,
  RotatedDestination,
} from './destinations.dto.js';
import { Destinations } from './destinations.repository.js';
import { TooManyDestinations } from './webhooks.errors.js';

/** What became of a destination; `changed` is whatever may have repaired it: another secret, the end of a pause. */
type DestinationChange = 'registered' | 'changed' | 'deleted';

/** Called in the transaction of the change; what it writes commits with it or not at all. */
type DestinationListener = (
  change: DestinationChange,
  destination: Pick<WebhookDestinationEntity, 'destinationId' | 'description' | 'url'>,
) => void | Promise<void>;

/** Who is told when a destination is registered, repaired or deleted: features above register here. */
@Injectable()
export class DestinationChanges {
  readonly #listeners: DestinationListener[] = [];

  register(listener: DestinationListener): void {
    this.#listeners.push(listener);
  }

  async tell(...[change, destination]: Parameters<DestinationListener>): Promise<void> {
    for (const listener of this.#listeners) await listener(change, destination);
  }
}

interface Registration {
  description: string;
  url: string;
  events: readonly SubscribableEvent[];
  secret: string;
}

/** What can be changed, as receipts call it. */
const WORDS = { description: 'name', url: 'address', events: 'events' } as const;
const CHANGEABLE = ['description', 'url', 'events'] as const;

const TEST_MESSAGE = 'This is a test event; nothing has happened.';

/** What admins do with the addresses that events go to (CONTRACT, Webhooks). */
@Injectable()
export class DestinationService implements OnModuleInit {
  constructor(
    private readonly destinations: Destinations,
    private readonly secrets: DestinationSecrets,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
    private readonly changes: DestinationChanges,
    private readonly work: Work,
    private readonly events: Events,
    private readonly escalations: Escalations,
    private readonly options: EscalationOptions,
    private readonly deliveries: Deliveries,
    private readonly orders: StandingOrders,
  ) {}

  onModuleInit(): void {
    this.options.register(CONNECTOR_RED, 'webhook_destination', {
      lock: ({ entityId }) => this.destinations.lock(entityId),
      options: {
        [RESUME]: {
          role: 'admin',
          effect: 'Ends the pause; the events that have waited are delivered at once.',
          run: async ({ entityId }, { caller }) => resumed(caller, await this.resume(caller, entityId)),
        },
      },
    });
  }

  /**
   * Registers one with the secret that the customer chose, which no answer shows.
   * @throws InvalidDestination, TooManyDestinations
   */
  async registerWithChosenSecret(
    caller: Caller,
    body: RegisterWebhookBody,
    verdict: DestinationVerdict,
  ): Promise<DestinationView> {
    const events = body.events ?? [body.event!];
    const { url, secret } = body;
    return viewOf(await this.register(caller, { description: '', url, events, secret }, verdict));
  }

  /**
   * Registers one with a secret made here; the answer is the only one that shows it.
   * @throws InvalidDestination, TooManyDestinations
   */
  async registerWithNewSecret(
    caller: Caller,
    body: RegisterPartnerWebhookBody,
    verdict: DestinationVerdict,
  ): Promise<NewDestination> {
    const { description, url, events = EVENT_TYPES } = body;
    const secret = newSigningSecret();
    return { ...viewOf(await this.register(caller, { description, url, events, secret }, verdict)), secret };
  }

  /**
   * Changes the name, the address or the events of a destination. What waits goes to the new address; what an earlier receiver
   * did says nothing about another one, so a destination with a new address is active. Where nothing differs it stays as it is,
   * without a receipt. An owner who acknowledged an order that lets posts go to it has acknowledged its address, so only an owner
   * gives it another one.
   * @param verdict on the address, where the body has one
   * @throws NotFound, InvalidDestination, Forbidden
   */
  async change(
    caller: Caller,
    destinationId: string,
    body: ChangeDestinationBody,
    verdict: DestinationVerdict | undefined,
  ): Promise<DestinationView> {
    const before = await this.destinations.lock(destinationId);
    const { description = before.description, events = before.events } = body;
    const url = body.url === undefined ? before.url : withoutFragment(body.url);
    const isMoved = url !== before.url;
    if (isMoved) {
      assertAllowed(verdict!);
      await this.requireOwnerOfOrders(caller, destinationId);
    }
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
      entity: entityOf(before),
      summary,
      // Every member reads receipts, and only admins read addresses.
      details: { changed, name: destinationName(after), events },
    });
    if (isMoved) {
      // What the earlier receiver still answers is an answer to nothing.
      this.work.restart(DELIVERY_WORK, destinationId);
      this.work.closeBreaker(DELIVERY_WORK, destinationId);
      await this.escalations.resolveAbout(CONNECTOR_RED, entityOf(before), summary);
    }
    await this.changes.tell('changed', after);
    return viewOf(after);
  }

  /**
   * Gives a destination another secret. The one before it, and each before that whose own overlap has not ended, sign as
   * well, so no receiver has to change at that moment.
   * @param chosen the customer's own secret; left out, one is made and shown
   * @throws NotFound, InvalidTransition for one that is gone or has too many former secrets in use, ValidationFailed for
   * the secret that is in force
   */
  async rotateSecret(caller: Caller, destinationId: string, chosen?: string): Promise<RotatedDestination> {
    const destination = await this.destinations.lock(destinationId);
    assertReceives(destination);
    const now = this.clock.now();
    const sealed = destination.sealedSecret!;
    const current = this.secrets.open(destinationId, sealed);
    if (chosen !== undefined && chosen === current) throw alreadyInForce();
    const inUse = destination.formerSecrets.filter(({ until }) => until > now);
    if (inUse.length >= MAX_FORMER_SECRETS) throw tooManyInUse(inUse);
    const made = newSigningSecret();
    const previousSecretUntil = now + OVERLAP_MS;
    this.destinations.update(destination, {
      sealedSecret: this.secrets.seal(destinationId, chosen ?? made),
      // One that cannot be opened signs nothing.
      formerSecrets: current === undefined ? inUse : [{ sealed, until: previousSecretUntil }, ...inUse],
      fault: null,
    });
    this.receipts.append({
      actor: actorOf(caller),
      action: 'webhook.secret_rotated',
      entity: entityOf(destination),
      summary: `${caller.name} rotated the secret of ${inASentence(destination)}.`,
      details: { previousSecretUntil },
    });
    await this.changes.tell('changed', destination);
    return { ...viewOf(destination), secret: chosen === undefined ? made : null, previousSecretUntil };
  }

  /**
   * Sends an event to one destination alone, to see that it receives and verifies.
   * @throws NotFound, InvalidTransition for one that is gone
   */
  async test(caller: Caller, destinationId: string): Promise<DeliveryView> {
    const destination = await this.destinations.lock(destinationId);
    assertReceives(destination);
    const event = 'webhook.test';
    const payload = { destinationId, message: TEST_MESSAGE };
    const { deliveryId, eventId, requestId } = this.events.recordFor(destinationId, event, payload);
    this.receipts.append({
      actor: actorOf(caller),
      action: 'webhook.tested',
      entity: entityOf(destination),
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
      about: null,
      previousDeliveryId: null,
      requestId,
    };
  }

  /**
   * Ends the pause of a destination by hand; what waited for it goes out at once. One that is active stays as it is, without a
   * receipt.
   * @throws NotFound, InvalidTransition for one that is gone
   */
  async resume(caller: Caller, destinationId: string): Promise<DestinationView> {
    const destination = await this.destinations.lock(destinationId);
    assertReceives(destination);
    if (destination.status === 'active') return viewOf(destination);
    this.destinations.update(destination, { status: 'active', consecutiveFailures: 0 });
    this.work.closeBreaker(DELIVERY_WORK, destinationId);
    const { consecutiveFailures } = destination;
    const summary = resumed(caller, destination);
    this.receipts.append({
      actor: actorOf(caller),
      action: 'webhook.resumed',
      entity: entityOf(destination),
      summary,
      details: { consecutiveFailures },
    });
    await this.escalations.resolveAbout(CONNECTOR_RED, entityOf(destination), summary);
    await this.changes.tell('changed', destination);
    return viewOf({ ...destination, status: 'active', consecutiveFailures: 0 });
  }

  /**
   * Deletes a destination for good. Its row stays without secrets, so that its deliveries can be accounted for.
   * Answers it as it was last.
   * @throws NotFound
   */
  async delete(caller: Caller, destinationId: string): Promise<DestinationView> {
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
      entity: entityOf(destination),
      summary,
      details: { deliveriesEnded },
    });
    await this.escalations.resolveAbout(CONNECTOR_RED, entityOf(destination), summary);
    await this.changes.tell('deleted', destination);
    return viewOf(destination);
  }

  /** @throws Forbidden for an admin, where a standing order allows posts to this destination by its id */
  private async requireOwnerOfOrders(caller: Caller, destinationId: string): Promise<void> {
    const orders = await this.orders.allowing('params.destinationId', destinationId);
    if (orders.length === 0) return;
    const message = `Standing orders allow posts to this destination: "${orders.join('", "')}". Archive them first, or ask an owner to change the address.`;
    requireRole(caller, null, 'owner', message);
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
      url: withoutFragment(url),
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
      entity: entityOf(destination),
      summary: `${caller.name} registered ${inASentence(destination)} for events.`,
      details: { name: destinationName(destination), events: destination.events },
    });
    await this.changes.tell('registered', destination);
    return destination;
  }
}

/** A fragment is never sent, so with another one it is the same address. */
function withoutFragment(url: string): string {
  return url.split('#', 1)[0]!;
}

function alreadyInForce() {
  const message = 'secret must differ from the one that is in use';
  return new ValidationFailed({ details: [{ path: 'secret', rule: 'isNew', message }] });
}

function tooManyInUse(inUse: readonly FormerSecret[]) {
  const first = new Date(Math.min(...inUse.map(({ until }) => until))).toISOString();
  return new InvalidTransition({
    message: `${inUse.length} former secrets of this destination still sign its events; the first of them ends at ${first}. Rotate the secret after that.`,
  });
}

function resumed(
  { name }: Caller,
  destination: Pick<DestinationView, 'destinationId' | 'description' | 'url'>,
): string {
  return `${name} resumed ${inASentence(destination)}.`;
}
