import { Injectable } from '@nestjs/common';
import type { CapoRole, Reversibility } from '../terms/terms.js';

/** What an order needs to know of an action type. */
interface ActionClass {
  reversibility: Reversibility;
  /** Who can make such a work packet. */
  engines: readonly string[];
}

/**
 * How far each action type can be undone. The registry of action types belongs to the capos, a higher feature; it is
 * registered here when the application starts.
 */
@Injectable()
export class ActionReversibility {
  #types: Readonly<Record<string, ActionClass>> | undefined;
  #engineOf: (capo: CapoRole) => string = () => '';

  register(types: Readonly<Record<string, ActionClass>>, engineOf: (capo: CapoRole) => string): void {
    this.#types = types;
    this.#engineOf = engineOf;
  }

  /** The types that one of these capos can use; null stands for every capo. */
  within(capos: readonly CapoRole[] | null): Record<string, Reversibility> {
    // Without a registry an order for every type would seem to allow nothing that is final.
    if (!this.#types) throw new Error('no action types are registered');
    const engines = capos?.map((capo) => this.#engineOf(capo));
    return Object.fromEntries(
      Object.entries(this.#types)
        .filter(([, type]) => !engines || type.engines.some((engine) => engines.includes(engine)))
        .map(([name, { reversibility }]) => [name, reversibility]),
    );
  }
}
