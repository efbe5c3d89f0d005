import { Injectable } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { SecretBox, SecretUnreadable } from '../../platform/secrets/secret-box.js';
import { signEvent } from '../../platform/signatures/event-signature.js';

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

/** The secrets of destinations, each sealed for its own, and what they sign. */
@Injectable()
export class DestinationSecrets {
  constructor(
    private readonly box: SecretBox,
    private readonly logger: PinoLogger,
  ) {}

  seal(destinationId: string, secret: string): string {
    return this.box.seal(secret, secretPurpose(destinationId));
  }

  /** Undefined when it does not open: it was changed, or sealed under another SECRETS_KEY. No later try ends otherwise. */
  open(destinationId: string, sealed: string): string | undefined {
    try {
      return this.box.open(sealed, secretPurpose(destinationId));
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error;
      this.logger.error({ err: error, destinationId }, 'the secret of a destination cannot be opened');
      return undefined;
    }
  }

  /**
   * The headers of an event, signed for its destination: exactly these, and what every request has: Host, Content-Length
   * (CONTRACT, Webhooks). Undefined when the secret cannot be opened.
   */
  headers(toSign: EventToSign, at: number): Record<string, string> | undefined {
    const { body, eventId, queue, sealedSecret, formerSealedSecrets } = toSign;
    const current = this.open(queue, sealedSecret);
    if (current === undefined) return undefined;
    const former = formerSealedSecrets
      .map((sealed) => this.open(queue, sealed))
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

/** What a destination's secret is sealed for. */
export function secretPurpose(destinationId: string): string {
  return `webhook-destination ${destinationId}`;
}
