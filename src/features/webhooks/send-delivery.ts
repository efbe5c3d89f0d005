import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../platform/kernel/clock.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { GuardedRequest } from '../../platform/outbound/guarded-request.js';
import { Work } from '../../platform/work/work.js';
import { DELIVERY_WORK } from '../events/index.js';
import { DeliveryService, SECRET_UNREADABLE } from './delivery.service.js';
import type { ClaimedDelivery } from './deliveries.repository.js';
import { attemptOf, IN_FLIGHT, judge, type Verdict } from './delivery.js';
import { DestinationSecrets } from './destination-secrets.js';

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
