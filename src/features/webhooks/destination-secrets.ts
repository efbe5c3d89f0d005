import { Injectable } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { SecretBox, SecretUnreadable } from '../../platform/secrets/secret-box.js';

/** The secrets of destinations, each sealed for its own. */
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
}

/** What a destination's secret is sealed for. */
export function secretPurpose(destinationId: string): string {
  return `webhook-destination ${destinationId}`;
}
