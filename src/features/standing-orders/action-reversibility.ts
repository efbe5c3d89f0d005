import { Injectable } from '@nestjs/common';
import { CAPO_ROLES, type CapoRole, type Reversibility } from '../terms/index.js';
import type { KnownActions } from './rule-faults.js';

/** What an order needs to know of an action type. */
interface ActionFacts {
  /** How far its work packets can be undone; where it depends on what they reach, every class that they may have. */
  classes: readonly Reversibility[];
  /** Who can make such a work packet. */
  engines: readonly string[];
  params: { shape: object };
}

/**
 * How far each action type can be undone, and what it takes. The registry of action types belongs to the capos, a higher feature; it is
 * registered here when the application starts.
 */
@Injectable()
export class ActionReversibility {
  #types: Readonly<Record<string, ActionFacts>> | undefined;
  #engineOf: (capo: CapoRole) => string = () => '';

  register(types: Readonly<Record<string, ActionFacts>>, engineOf: (capo: CapoRole) => string): void {
    this.#types = types;
    this.#engineOf = engineOf;
  }

  /** What an order may ask for: every type, with the names of its parameters. */
  known(): KnownActions {
    return Object.fromEntries(
      Object.entries(this.types()).map(([name, { classes, engines, params }]) => [
        name,
        {
          classes,
          capos: CAPO_ROLES.filter((capo) => engines.includes(this.#engineOf(capo))),
          parameters: Object.keys(params.shape),
        },
      ]),
    );
  }

  /** The classes of the types that one of these capos can use, null stands for every capo, and of these tools. */
  within(
    capos: readonly CapoRole[] | null,
    tools: readonly { name: string; reversibility: Reversibility }[] = [],
  ): Record<string, readonly Reversibility[]> {
    const engines = capos?.map((capo) => this.#engineOf(capo));
    return Object.fromEntries([
      ...Object.entries(this.types())
        .filter(([, type]) => !engines || type.engines.some((engine) => engines.includes(engine)))
        .map(([name, { classes }]) => [name, classes]),
      ...tools.map(({ name, reversibility }) => [name, [reversibility]]),
    ]);
  }

  private types(): Readonly<Record<string, ActionFacts>> {
    // Without a registry an order for every type would seem to allow nothing that is final.
    if (!this.#types) throw new Error('no action types are registered');
    return this.#types;
  }
}
