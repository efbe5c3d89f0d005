import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition, ValidationFailed } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { newSigningSecret } from '../../platform/signatures/event-signature.js';
import type { FormerSecret } from './destination.entity.js';
import { assertReceives, MAX_FORMER_SECRETS, OVERLAP_MS, viewOf } from './destination.js';
import { DestinationChanges } from './destination-changes.js';
import { inASentence } from './destination-name.js';
import { DestinationSecrets } from './destination-secrets.js';
import type { RotatedDestination } from './destinations.dto.js';
import { Destinations } from './destinations.repository.js';

/**
 * Gives a destination another secret. The one before it, and each before that whose own overlap has not ended, sign as
 * well, so no receiver has to change at that moment.
 */
@Injectable()
export class RotateDestinationSecret {
  constructor(
    private readonly destinations: Destinations,
    private readonly secrets: DestinationSecrets,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
    private readonly changes: DestinationChanges,
  ) {}

  /**
   * @param chosen the customer's own secret; left out, one is made and shown
   * @throws NotFound, InvalidTransition for one that is gone or has too many former secrets in use, ValidationFailed for
   * the secret that is in force
   */
  async execute(caller: Caller, destinationId: string, chosen?: string): Promise<RotatedDestination> {
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
      entity: { type: 'webhook_destination', id: destinationId },
      summary: `${caller.name} rotated the secret of ${inASentence(destination)}.`,
      details: { previousSecretUntil },
    });
    await this.changes.tell('changed', destination);
    return { ...viewOf(destination), secret: chosen === undefined ? made : null, previousSecretUntil };
  }
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
