import { Injectable } from '@nestjs/common';
import type { WebhookDestinationEntity } from './destination.entity.js';

/** What became of a destination; `changed` is whatever may have repaired it: another secret, the end of a pause. */
type DestinationChange = 'registered' | 'changed' | 'deleted';

/** Called in the transaction of the change; what it writes commits with it or not at all. */
type DestinationListener = (
  change: DestinationChange,
  destination: Pick<WebhookDestinationEntity, 'destinationId' | 'description' | 'url'>,
) => void | Promise<void>;

/** Who is told when a destination is registered, repaired or deleted: features above register here. */
@Injectable()
export class DestinationChanges {
  readonly #listeners: DestinationListener[] = [];

  register(listener: DestinationListener): void {
    this.#listeners.push(listener);
  }

  async tell(...[change, destination]: Parameters<DestinationListener>): Promise<void> {
    for (const listener of this.#listeners) await listener(change, destination);
  }
}
