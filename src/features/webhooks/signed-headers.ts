import { Injectable } from '@nestjs/common';
import { signEvent } from '../../platform/signatures/event-signature.js';
import { DestinationSecrets } from './destination-secrets.js';

/** One event on its way to one destination. */
interface EventToSign {
  event: string;
  eventId: string;
  requestId: string;
  body: string;
  /** The destination, for which its secrets are sealed. */
  queue: string;
  sealedSecret: string;
  /** These sign too, while a rotation overlaps; the newest first. */
  formerSealedSecrets: readonly string[];
}

/** The headers of an event, signed for its destination. */
@Injectable()
export class SignedHeaders {
  constructor(private readonly secrets: DestinationSecrets) {}

  /**
   * Exactly these, and what every request has: Host, Content-Length (CONTRACT, Webhooks). Undefined when the secret
   * cannot be opened.
   */
  headers(toSign: EventToSign, at: number): Record<string, string> | undefined {
    const { body, eventId, queue, sealedSecret, formerSealedSecrets } = toSign;
    const current = this.secrets.open(queue, sealedSecret);
    if (current === undefined) return undefined;
    const former = formerSealedSecrets
      .map((sealed) => this.secrets.open(queue, sealed))
      .filter((secret) => secret !== undefined);
    return {
      'Content-Type': 'application/json',
      'User-Agent': 'Consigliere',
      'Accept-Encoding': 'identity',
      'X-Service-Event': toSign.event,
      'X-Service-RequestId': toSign.requestId,
      ...signEvent({ body, at, id: eventId, secrets: [...new Set([current, ...former])] }),
    };
  }
}
