import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import { newSigningSecret } from '../../platform/signatures/event-signature.js';
import { assertReceives, OVERLAP_MS, viewOf } from './destination.js';
import type { RotatedDestination } from './destinations.dto.js';
import { Destinations } from './destinations.repository.js';
import { placeOf } from './place-of.js';
import { secretPurpose } from './send-delivery.js';

/** Gives a destination another secret; both sign until the overlap ends, so no receiver has to change at that moment. */
@Injectable()
export class RotateDestinationSecret {
  constructor(
    private readonly destinations: Destinations,
    private readonly box: SecretBox,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /**
   * @param chosen the customer's own secret; left out, one is made and shown
   * @throws NotFound, InvalidTransition for one that is gone, ValidationFailed for the secret that is in force
   */
  async execute(caller: Caller, destinationId: string, chosen?: string): Promise<RotatedDestination> {
    const destination = await this.destinations.lock(destinationId);
    assertReceives(destination);
    const purpose = secretPurpose(destinationId);
    if (chosen === this.box.open(destination.sealedSecret!, purpose)) throw alreadyInForce();
    const made = newSigningSecret();
    const previousSecretUntil = this.clock.now() + OVERLAP_MS;
    this.destinations.rotateSecret(
      destinationId,
      this.box.seal(chosen ?? made, purpose),
      previousSecretUntil,
    );
    this.receipts.append({
      actor: actorOf(caller),
      action: 'webhook.secret_rotated',
      entity: { type: 'webhook_destination', id: destinationId },
      summary: `${caller.name} rotated the secret of ${placeOf(destination.url)}.`,
      details: { url: placeOf(destination.url), previousSecretUntil },
    });
    return { ...viewOf(destination), secret: chosen === undefined ? made : null, previousSecretUntil };
  }
}

function alreadyInForce() {
  const message = 'secret must be another than the one in force';
  return new ValidationFailed({ details: [{ path: 'secret', rule: 'isNew', message }] });
}
