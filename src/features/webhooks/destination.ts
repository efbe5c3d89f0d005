import { InvalidTransition } from '../../platform/kernel/errors.js';
import type { WebhookDestinationEntity } from './destination.entity.js';
import type { DestinationView } from './destinations.dto.js';

/** Destinations of a workspace that are not deleted; each event is stored, and sent, once for every one of them. */
export const MAX_DESTINATIONS = 50;

/** For so long a secret signs after it was rotated out (CONTRACT, Webhooks), in milliseconds. */
export const OVERLAP_MS = 24 * 3_600_000;

/** Rotated out and still signing, at most: each adds a signature to every request. */
export const MAX_FORMER_SECRETS = 5;

/** A destination as an admin may see it, and nobody else; its secrets are nowhere. */
export function viewOf(destination: WebhookDestinationEntity): DestinationView {
  return {
    destinationId: destination.destinationId,
    description: destination.description,
    url: destination.url,
    events: destination.events,
    status: destination.status,
    apiVersion: destination.apiVersion,
    createdAt: destination.createdAt,
    lastDeliveryAt: destination.lastDeliveryAt,
    consecutiveFailures: destination.consecutiveFailures,
  };
}

/** A destination as what receipts, signals and escalations are about. */
export function entityOf({ destinationId }: Pick<WebhookDestinationEntity, 'destinationId'>) {
  return { type: 'webhook_destination', id: destinationId };
}

/** @throws InvalidTransition for one that nothing is sent to any more; a paused one still has its probes */
export function assertReceives({
  status,
  deletedAt,
}: Pick<WebhookDestinationEntity, 'status' | 'deletedAt'>): void {
  if (deletedAt !== null) throw new InvalidTransition({ message: 'The destination was deleted.' });
  if (status === 'gone') {
    throw new InvalidTransition({
      message:
        'The receiver answered 410 (Gone), so nothing is sent to it any more. Give the destination another address.',
    });
  }
}
