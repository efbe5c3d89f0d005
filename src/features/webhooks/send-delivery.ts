import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { type Answer, GuardedRequest } from '../../platform/outbound/guarded-request.js';
import { Work } from '../../platform/work/work.js';
import { DELIVERY_WORK } from '../events/index.js';
import type { ClaimedDelivery } from './deliveries.repository.js';
import { attemptOf, IN_FLIGHT, judge, type Verdict } from './delivery.js';
import { DeliveryService, SECRET_UNREADABLE } from './delivery.service.js';
import { targetInFull, targetOf } from './destination-name.js';
import { DestinationSecrets } from './destination-secrets.js';
import type { WebhookDestinationEntity } from './destination.entity.js';
import { Destinations } from './destinations.repository.js';

/** In flight in one process, for all destinations. */
const POOL = 512;
/** After so many unexpected errors it is given up; the sends that a receiver may refuse are counted apart. */
const TRIES = 5;

/** Makes one attempt: the bytes of the event, signed now, to the address as it resolves now; then writes what came of it. */
@Injectable()
export class SendDelivery implements OnModuleInit {
  readonly #count: (outcome: Verdict['kind'] | 'impossible') => void;

  constructor(
    private readonly work: Work,
    private readonly secrets: DestinationSecrets,
    private readonly requests: GuardedRequest,
    private readonly service: DeliveryService,
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    this.#count = metrics.outcomes(
      'consigliere_deliveries_total',
      'Attempts at deliveries of events that this process made, by what came of them',
      ['delivered', 'again', 'given_up', 'gone', 'impossible'],
    );
  }

  onModuleInit(): void {
    this.work.declare<ClaimedDelivery>({
      name: DELIVERY_WORK,
      pool: POOL,
      perQueue: IN_FLIGHT,
      perQueueEverywhere: IN_FLIGHT,
      tries: TRIES,
      claim: 'app.claim_deliveries',
      run: (delivery, signal) => this.execute(delivery, signal),
      giveUp: (delivery, error) => this.service.giveUp(delivery, error, this.clock.now()),
    });
  }

  private async execute(delivery: ClaimedDelivery, signal: AbortSignal): Promise<void> {
    if (!delivery.receives) {
      await this.service.withoutReceiver(delivery);
      return;
    }
    const at = this.clock.now();
    const n = delivery.sends + 1;
    const headers = this.secrets.headers(delivery, at);
    if (!headers) {
      await this.service.impossible(delivery, SECRET_UNREADABLE, at);
      this.#count('impossible');
      return;
    }
    const answer = await this.requests.post({ url: delivery.url, headers, body: delivery.body, signal });
    const verdict = judge(n, answer);
    await this.service.complete(delivery, attemptOf(n, at, answer), verdict);
    this.#count(verdict.kind);
  }
}

/** An event that is posted to one destination because somebody decided so, not because something happened here. */
interface PostedEvent {
  destinationId: string;
  /** {@link targetInFull}, as it was allowed. */
  destination: string | undefined;
  eventId: string;
  event: string;
  requestId: string;
  /** The same bytes at every try. */
  body: string;
  signal: AbortSignal;
}

/** Why nothing was sent, whatever the receiver does. */
export type Unsendable = 'no_destination' | 'other_address' | 'secret_unreadable';

/**
 * Posts one event and answers what the receiver said: the same signature, rules for addresses and limits as a delivery. It
 * is no delivery: the caller decides whether it is sent again, and it changes nothing about the health of the
 * destination.
 */
@Injectable()
export class PostEvent {
  readonly #count: (outcome: 'accepted' | 'refused' | 'failed' | 'impossible') => void;

  constructor(
    private readonly destinations: Destinations,
    private readonly secrets: DestinationSecrets,
    private readonly requests: GuardedRequest,
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    this.#count = metrics.outcomes(
      'consigliere_posted_events_total',
      'Tries of this process to post an event that a capo drafted, by what came of them',
      ['accepted', 'refused', 'failed', 'impossible'],
    );
  }

  async execute(scope: Scope, posted: PostedEvent): Promise<Answer | Unsendable> {
    const destination = (await this.destinations.receiving(scope)).find(
      ({ destinationId }) => destinationId === posted.destinationId,
    );
    if (!destination) return this.impossible('no_destination');
    // Its address may have been changed since it was compared with what was allowed: this is the one that is called.
    if (targetInFull(targetOf(destination)) !== posted.destination) return this.impossible('other_address');
    const at = this.clock.now();
    const headers = this.secrets.headers({ ...posted, ...signersOf(destination, at) }, at);
    if (!headers) return this.impossible('secret_unreadable');
    const { body, signal } = posted;
    const answer = await this.requests.post({ url: destination.url, headers, body, signal });
    const isAccepted = answer.kind === 'answered' && answer.status >= 200 && answer.status < 300;
    this.#count(answer.kind === 'failed' ? 'failed' : isAccepted ? 'accepted' : 'refused');
    return answer;
  }

  private impossible(why: Unsendable): Unsendable {
    this.#count('impossible');
    return why;
  }
}

/** The secret, and those that were rotated out and sign for a while. */
function signersOf({ destinationId, sealedSecret, formerSecrets }: WebhookDestinationEntity, at: number) {
  return {
    queue: destinationId,
    // Only a deleted one has none.
    sealedSecret: sealedSecret!,
    formerSealedSecrets: formerSecrets.filter(({ until }) => until > at).map(({ sealed }) => sealed),
  };
}
