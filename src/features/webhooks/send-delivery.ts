import { Injectable } from '@nestjs/common';
import { withLease } from '../../platform/jobs/lease.js';
import { Clock } from '../../platform/kernel/clock.js';
import { GuardedRequest } from '../../platform/outbound/guarded-request.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import { signEvent } from '../../platform/signatures/event-signature.js';
import { ConcludeAttempt } from './conclude-attempt.js';
import { Deliveries, type TakenDelivery } from './deliveries.repository.js';
import { attemptOf, judge } from './delivery.js';

/** What a destination's secret is sealed for. */
export function secretPurpose(destinationId: string): string {
  return `webhook-destination ${destinationId}`;
}

/** Makes one attempt: the bytes of the event, signed now, to the address as it resolves now; then writes what came of it. */
@Injectable()
export class SendDelivery {
  constructor(
    private readonly secrets: SecretBox,
    private readonly requests: GuardedRequest,
    private readonly deliveries: Deliveries,
    private readonly conclude: ConcludeAttempt,
    private readonly clock: Clock,
  ) {}

  async execute(delivery: TakenDelivery): Promise<void> {
    const at = this.clock.now();
    const n = delivery.sends + 1;
    const headers = this.headers(delivery, at);
    const answer = await withLease(
      () => this.deliveries.extendLease(delivery),
      (signal) => this.requests.post({ url: delivery.url, headers, body: delivery.body, signal }),
    );
    await this.conclude.execute(delivery, attemptOf(n, at, answer), judge(n, answer));
  }

  /** Exactly these, and what every request has: Host, Content-Length (CONTRACT, Webhooks). */
  private headers(delivery: TakenDelivery, at: number): Record<string, string> {
    const { body, eventId, destinationId, sealedSecret, previousSealedSecret } = delivery;
    const secrets = [sealedSecret, previousSealedSecret]
      .filter((sealed) => sealed !== null)
      .map((sealed) => this.secrets.open(sealed, secretPurpose(destinationId)));
    return {
      'Content-Type': 'application/json',
      'User-Agent': 'Consigliere',
      'Accept-Encoding': 'identity',
      'X-Service-Event': delivery.event,
      'X-Service-RequestId': delivery.requestId,
      ...signEvent({ body, at, id: eventId, secrets }),
    };
  }
}
