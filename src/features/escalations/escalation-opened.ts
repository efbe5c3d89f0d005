import { Injectable } from '@nestjs/common';
import type { EscalationEntity } from './escalation.entity.js';

/** Called in the transaction that opened the escalation; what it writes commits with it or not at all. */
export type EscalationListener = (escalation: EscalationEntity) => void | Promise<void>;

/** Who is told when an escalation is opened: features above register here. */
@Injectable()
export class EscalationOpened {
  readonly #listeners: EscalationListener[] = [];

  register(listener: EscalationListener): void {
    this.#listeners.push(listener);
  }

  async publish(escalation: EscalationEntity): Promise<void> {
    for (const listener of this.#listeners) await listener(escalation);
  }
}
