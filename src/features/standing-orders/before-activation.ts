import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';

type Act = (by: Actor) => Promise<unknown>;

/** What has to happen in the transaction in which an order becomes active, before it does; a higher feature registers it. */
@Injectable()
export class BeforeActivation {
  readonly #acts: Act[] = [];

  register(act: Act): void {
    this.#acts.push(act);
  }

  async run(by: Actor): Promise<void> {
    for (const act of this.#acts) await act(by);
  }
}
