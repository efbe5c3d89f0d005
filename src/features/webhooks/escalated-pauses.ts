import { Injectable } from '@nestjs/common';
import { CONNECTOR_RED, DISMISS, Escalations, RESUME } from '../escalations/index.js';
import type { WebhookDestinationEntity } from './destination.entity.js';

type Paused = Pick<WebhookDestinationEntity, 'destinationId'>;

/** A destination that is paused because it failed waits for a person, until it receives events again. */
@Injectable()
export class EscalatedPauses {
  constructor(private readonly escalations: Escalations) {}

  async begun(destination: Paused, because: string): Promise<void> {
    await this.escalations.open({
      kind: CONNECTOR_RED,
      entity: entityOf(destination),
      teamId: null,
      reason: `${because} Its events are kept until it receives them again.`,
      options: [RESUME, DISMISS],
      dueAt: null,
    });
  }

  ended(destination: Paused, because: string): Promise<void> {
    return this.escalations.resolveAbout(CONNECTOR_RED, entityOf(destination), because);
  }
}

function entityOf({ destinationId }: Paused) {
  return { type: 'webhook_destination', id: destinationId };
}
