import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { Actor, Caller } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { defineError } from '../../platform/kernel/define-error.js';
import { record } from '../../platform/kernel/error-details.js';
import { isToolPattern } from '../terms/index.js';
import { OrderSimulation } from './simulation/order-simulation.js';
import {
  keptSimulationOf,
  receiptFactsOf,
  type SimulationView,
  simulationViewOf,
} from './simulation/simulation.dto.js';
import type { SimulationEntity } from './simulation/simulation.entity.js';
import type { StandingOrderEntity } from './standing-order.entity.js';
import { ActionReversibility, OrderTools } from './order-tools.js';
import { relaxesPast } from './standing-order-view.js';
import { relaxesIrreversible, tightens } from './standing-order.js';

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

export const SimulationRequired = defineError(
  'SIMULATION_REQUIRED',
  409,
  'An owner must look at the simulation of this standing order, and send "acknowledge": true and the version that it names.',
  {
    details: z.object({
      simulation: record<SimulationView>('What it would have changed.', 'SimulationView'),
    }),
  },
);

/** What there is to know before an order becomes active. */
interface Examination {
  /** The order with its simulation and its eval. */
  order: StandingOrderEntity;
  simulation: SimulationEntity;
  /** What speaks against it, in sentences for a person; empty: nothing does. */
  reasons: readonly string[];
  /** The same with what it takes: why the order stays a draft until an owner acknowledges it. */
  heldBecause: string | null;
  /** For the receipt of the activation. */
  details: Record<string, unknown>;
}

/** Of an order that allows what cannot be undone. */
export function allowsIrreversible({ match: { actionTypes } }: Pick<StandingOrderEntity, 'match'>): string {
  const isAboutTools = actionTypes?.every(isToolPattern);
  return `It allows ${isAboutTools ? `requests for ${actionTypes!.join(', ')}` : 'work packets'} that cannot be undone.`;
}

/** Looks at what an order would do, before anybody lets it: what it says, what it would have done, and what other features check. */
@Injectable()
export class ActivationExamination {
  constructor(
    private readonly reversibility: ActionReversibility,
    private readonly tools: OrderTools,
    private readonly simulation: OrderSimulation,
    private readonly checks: ActivationChecks,
  ) {}

  /**
   * Of a locked order, or of its next version.
   * @param current the version that an acknowledgement names: the one in force where the next would take its place at once
   * @throws NeededBeforehand, before anything is written
   */
  of(order: StandingOrderEntity, by: Actor, current = order.version): Promise<Examination> {
    return this.examine(order, this.simulation.of(order), by, { current });
  }

  /**
   * Of an order that is being created: {@link keepNew} adds its simulation, behind the order.
   * @throws NeededBeforehand, before anything is written
   */
  ofNew(order: StandingOrderEntity, by: Actor): Promise<Examination> {
    // Beside what was in force then, an order that tightens can only have been stricter.
    return this.examine(order, this.simulation.ofNew(order), by, { mayRelax: !tightens(order) });
  }

  /** Runs before an active order is written. */
  beforeActivation(): Promise<void> {
    return this.checks.beforeActivation();
  }

  keepNew({ simulation }: Examination): void {
    this.simulation.keepNew(simulation);
  }

  /** Whether what the order says, whatever the past was, lets out what cannot be undone. */
  async relaxesIrreversible(order: StandingOrderEntity): Promise<boolean> {
    const tools = await this.tools.active(order.workspaceId, [order.match]);
    return relaxesIrreversible(order, this.reversibility.within(order.capos, tools));
  }

  private async examine(
    order: StandingOrderEntity,
    simulation: SimulationEntity,
    by: Actor,
    { mayRelax = true, current = order.version }: { mayRelax?: boolean; current?: number },
  ): Promise<Examination> {
    const { objections, evalRunId = null } = await this.checks.run(order, by);
    const reasons = [...(mayRelax ? await this.relaxations(order, simulation) : []), ...objections];
    return {
      order: { ...order, simulation: keptSimulationOf(simulation), evalRunId },
      simulation,
      reasons,
      heldBecause: reasons.length > 0 ? [...reasons, howToAcknowledge(current)].join(' ') : null,
      details: { simulation: receiptFactsOf(simulation), evalRunId },
    };
  }

  private async relaxations(
    order: StandingOrderEntity,
    { relaxedIrreversible }: SimulationEntity,
  ): Promise<string[]> {
    const reasons: string[] = [];
    if (await this.relaxesIrreversible(order)) reasons.push(allowsIrreversible(order));
    if (relaxedIrreversible > 0) reasons.push(relaxesPast(relaxedIrreversible));
    return reasons;
  }
}

const howToAcknowledge = (version: number) =>
  `An owner must allow it with "acknowledge": true and "version": ${version}.`;

/** @throws SimulationRequired without the acknowledgement, or Forbidden for one who may not give it, where something speaks against the order */
export function requireAcknowledgement(
  { order, heldBecause, reasons, simulation }: Examination,
  acknowledged: boolean,
  caller: Caller,
): void {
  if (heldBecause === null) return;
  if (!acknowledged) {
    const details = { simulation: simulationViewOf(simulation, caller) };
    throw new SimulationRequired({ message: heldBecause, details });
  }
  requireOwner(caller, order, reasons);
}

export function requireOwner(
  caller: Caller,
  { teamId }: StandingOrderEntity,
  reasons: readonly string[],
): void {
  requireRole(caller, teamId, 'owner', [...reasons, 'Only an owner may activate it.'].join(' '));
}
