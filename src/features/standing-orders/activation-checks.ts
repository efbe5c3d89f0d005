import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import type { StandingOrderEntity } from './standing-order.entity.js';

/** What a check found out about an order that is about to become active. */
export interface ActivationFinding {
  /**
   * Why the order must not become active by itself, each a sentence for a person. With one, a new order stays a draft,
   * and only an owner who acknowledges it activates the order.
   */
  objections: readonly string[];
  /** Of the eval run that was stored; it stands in the order and in the receipt of the activation. */
  evalRunId?: string;
}

/** Runs in the transaction of the activation; the order is locked, or new. */
type ActivationCheck = (order: StandingOrderEntity, by: Actor) => Promise<ActivationFinding>;

/** Runs in that transaction as well, once it is certain that the order becomes active. */
type BeforeActivation = () => Promise<unknown>;

/**
 * What an order has to pass before it becomes active, besides its simulation. The safety eval belongs to a higher feature,
 * which registers itself here when the application starts, and so does the feature that keeps the former state.
 */
@Injectable()
export class ActivationChecks {
  readonly #checks: ActivationCheck[] = [];
  readonly #before: BeforeActivation[] = [];

  register(check: ActivationCheck): void {
    this.#checks.push(check);
  }

  registerBefore(act: BeforeActivation): void {
    this.#before.push(act);
  }

  /** Runs before an active order is written. */
  async beforeActivation(): Promise<void> {
    for (const act of this.#before) await act();
  }

  /** All findings in one. */
  async run(order: StandingOrderEntity, by: Actor): Promise<ActivationFinding> {
    const all: { objections: string[]; evalRunId?: string } = { objections: [] };
    for (const check of this.#checks) {
      const { objections, evalRunId } = await check(order, by);
      all.objections.push(...objections);
      if (evalRunId !== undefined) all.evalRunId = evalRunId;
    }
    return all;
  }
}
