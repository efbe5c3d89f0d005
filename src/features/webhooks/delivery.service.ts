import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, SYSTEM } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { scopeOfWork, type WorkError } from '../../platform/work/work-item.js';
import { Work } from '../../platform/work/work.js';
import { DELIVERY_WORK } from '../events/index.js';
import { CONNECTOR_RED, DISMISS, Escalations, RESUME } from '../escalations/index.js';
import { Signals } from '../records/index.js';
import type { DeliveryView } from './deliveries.dto.js';
import { type ClaimedDelivery, Deliveries } from './deliveries.repository.js';
import {
  type Attempt,
  failedAttempt,
  GIVEN_UP_BEFORE_PAUSE,
  PROBE_EVERY_MS,
  type Verdict,
} from './delivery.js';
import { atTheBeginning, inASentence } from './destination-name.js';
import type { DestinationFault, WebhookDestinationEntity } from './destination.entity.js';
import { assertReceives, entityOf } from './destination.js';
import { Destinations } from './destinations.repository.js';

/** Why nothing can be signed; the key is the operator's to restore, the secret an admin's to rotate. */
export const SECRET_UNREADABLE: WorkError = {
  code: 'SECRET_UNREADABLE',
  message: 'The secret that signs them cannot be opened with the SECRETS_KEY of this service.',
};

/** What became of a delivery, and the health of its destination with it. */
@Injectable()
export class DeliveryService {
  constructor(
    private readonly deliveries: Deliveries,
    private readonly receipts: Receipts,
    private readonly db: Db,
    private readonly work: Work,
    private readonly destinations: Destinations,
    private readonly signals: Signals,
    private readonly escalations: Escalations,
  ) {}

  /**
   * Sends an event once more, as a new delivery with as many sends as any other.
   * @throws NotFound, InvalidTransition when its destination receives nothing any more
   */
  async redeliver(caller: Caller, deliveryId: string): Promise<DeliveryView> {
    const past = await this.deliveries.lockPast(deliveryId);
    assertReceives(past);
    const delivery = await this.deliveries.add(past);
    this.receipts.append({
      actor: actorOf(caller),
      action: 'delivery.redelivered',
      entity: { type: 'webhook_delivery', id: delivery.deliveryId },
      summary: `${caller.name} had ${past.event} delivered to ${inASentence(past)} again.`,
      details: {
        event: past.event,
        eventId: past.eventId,
        destinationId: past.destinationId,
        previousDeliveryId: deliveryId,
      },
    });
    return delivery;
  }

  /**
   * Writes down what came of an attempt. What changes nothing about the health of the destination is one round trip; the
   * rest is an act with a receipt. A result that comes too late, when the delivery belongs to another attempt by now, is
   * discarded as a whole.
   */
  async complete(delivery: ClaimedDelivery, attempt: Attempt, verdict: Verdict): Promise<void> {
    if (verdict.kind === 'again') await this.deliveries.reschedule(delivery, attempt, verdict.waitMs);
    else if (verdict.kind === 'delivered' && !delivery.probe)
      await this.deliveries.complete(delivery, attempt);
    else await this.change(delivery, attempt, verdict.kind);
  }

  /** Its destination receives nothing any more: an act added it in the moment of the end. */
  async withoutReceiver(delivery: ClaimedDelivery): Promise<void> {
    await this.db.transaction(scopeOfWork(delivery), async () => {
      this.deliveries.end(delivery, 'dead');
      this.work.complete(delivery);
    });
  }

  /** It cannot be sent, now or later, for a reason that is ours and not the receiver's. Completes the work as well. */
  async impossible(delivery: ClaimedDelivery, error: WorkError, at: number): Promise<void> {
    await this.db.transaction(scopeOfWork(delivery), async () => {
      await this.giveUp(delivery, error, at);
      this.work.complete(delivery);
    });
  }

  /** Ends the delivery in the open transaction; the signal comes once, not for every delivery. */
  async giveUp(delivery: ClaimedDelivery, error: WorkError, at: number): Promise<void> {
    const destination = await this.destinations.lockLive(delivery.queue);
    this.deliveries.end(delivery, 'dead', failedAttempt(delivery.sends + 1, at, error.code));
    if (!destination) return;
    const receiver = inASentence(destination);
    this.receipts.append({
      actor: SYSTEM,
      action: 'delivery.failed',
      entity: { type: 'webhook_delivery', id: delivery.id },
      outcome: 'failure',
      summary: `The event ${delivery.event} could not be sent to ${receiver}. ${error.message}`,
      details: { event: delivery.event, eventId: delivery.eventId, destinationId: delivery.queue, error },
    });
    const fault = faultOf(error);
    if (destination.fault === fault) return;
    this.destinations.update(destination, { fault });
    this.warn(
      destination,
      `Events for ${receiver} cannot be sent.`,
      fault === 'secret'
        ? `${error.message} Rotate the secret of the destination, then redeliver its events.`
        : `${error.message} Redeliver the event once the cause is found.`,
    );
  }

  private async change(
    delivery: ClaimedDelivery,
    attempt: Attempt,
    kind: 'delivered' | 'given_up' | 'gone',
  ): Promise<void> {
    await this.db.transaction(scopeOfWork(delivery), async () => {
      const destination = await this.destinations.lockLive(delivery.queue);
      this.deliveries.end(delivery, kind === 'delivered' ? 'delivered' : 'dead', attempt);
      this.work.complete(delivery);
      if (!destination) return;
      if (kind === 'delivered') await this.recovered(destination);
      else if (kind === 'gone') await this.gone(destination);
      else await this.givenUp(destination, delivery);
    });
  }

  private async recovered(destination: WebhookDestinationEntity): Promise<void> {
    this.destinations.recover(destination);
    if (destination.status !== 'paused') return;
    this.work.closeBreaker(DELIVERY_WORK, destination.destinationId);
    const summary = `${atTheBeginning(destination)} receives events again.`;
    this.note('webhook.recovered', destination, summary);
    await this.escalations.resolveAbout(CONNECTOR_RED, entityOf(destination), summary);
  }

  private async gone(destination: WebhookDestinationEntity): Promise<void> {
    await this.deliveries.endWaiting(destination.destinationId);
    if (destination.status === 'gone') return;
    this.destinations.update(destination, { status: 'gone' });
    this.work.closeBreaker(DELIVERY_WORK, destination.destinationId);
    const title = `${atTheBeginning(destination)} answered 410 (Gone): no more events are sent to it.`;
    this.note('webhook.gone', destination, title);
    if (destination.status === 'paused')
      await this.escalations.resolveAbout(CONNECTOR_RED, entityOf(destination), title);
    this.warn(destination, title, 'Give it another address if its events are still wanted.');
  }

  private async givenUp(
    destination: WebhookDestinationEntity,
    { id, event, eventId, queue: destinationId }: ClaimedDelivery,
  ): Promise<void> {
    this.receipts.append({
      actor: SYSTEM,
      action: 'delivery.failed',
      entity: { type: 'webhook_delivery', id },
      outcome: 'failure',
      summary: `The event ${event} was not received by ${inASentence(destination)} at any attempt. An admin can send it again.`,
      details: { event, eventId, destinationId },
    });
    const consecutiveFailures = destination.consecutiveFailures + 1;
    if (destination.status !== 'active' || consecutiveFailures < GIVEN_UP_BEFORE_PAUSE) {
      this.destinations.update(destination, { consecutiveFailures });
      return;
    }
    this.destinations.update(destination, { status: 'paused', consecutiveFailures });
    this.work.openBreaker(DELIVERY_WORK, destination.destinationId, PROBE_EVERY_MS);
    const title = `${atTheBeginning(destination)} is paused: ${GIVEN_UP_BEFORE_PAUSE} deliveries in a row failed at every try.`;
    this.note('webhook.paused', destination, title);
    this.warn(
      destination,
      title,
      'Its events are kept, and one of them is tried each hour. Resume it once it is repaired.',
    );
    await this.escalations.open({
      kind: CONNECTOR_RED,
      entity: entityOf(destination),
      teamId: null,
      reason: `${title} Its events are kept until it receives them again.`,
      options: [RESUME, DISMISS],
      dueAt: null,
    });
  }

  private note(action: string, destination: WebhookDestinationEntity, summary: string): void {
    this.receipts.append({ actor: SYSTEM, action, entity: entityOf(destination), summary });
  }

  private warn(destination: WebhookDestinationEntity, title: string, body: string): void {
    this.signals.raise({
      type: 'connector',
      severity: 'warning',
      title,
      body,
      teamId: null,
      entity: entityOf(destination),
    });
  }
}

function faultOf({ code }: WorkError): DestinationFault {
  return code === SECRET_UNREADABLE.code ? 'secret' : 'unexpected';
}
