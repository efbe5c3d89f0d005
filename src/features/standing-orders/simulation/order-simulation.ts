import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../platform/auth/caller.js';
import { requireRole } from '../../../platform/auth/require-role.js';
import { computedBeforehand } from '../../../platform/database/beforehand.js';
import { Clock } from '../../../platform/kernel/clock.js';
import { newId } from '../../../platform/kernel/ids.js';
import { decisionOrderOf } from '../order-content.js';
import type { StandingOrderEntity } from '../standing-order.entity.js';
import { StandingOrders } from '../standing-orders.repository.js';
import { type EndOfHistory, History } from './history.reader.js';
import type { Simulated } from './replay.js';
import { ReplayHistory } from './replay-history.js';
import type { SimulationEntity } from './simulation.entity.js';
import { Simulations } from './simulations.repository.js';
import { simulationViewOf } from './simulation-view.js';
import type { SimulationView } from './simulation.dto.js';

/**
 * The simulation of what an order says, for a mutation of the order. It takes seconds where there is a long history, so it is
 * computed with no transaction open: neither decisions nor a kill wait for it. The mutation then finds the order as it is by
 * then; another version is simulated again. Decisions that were made in between are not in it: it would never end where
 * many are made.
 */
@Injectable()
export class OrderSimulation {
  constructor(
    private readonly history: History,
    private readonly replayHistory: ReplayHistory,
    private readonly simulations: Simulations,
    private readonly clock: Clock,
  ) {}

  /**
   * Of a locked order as it stands, or is going to. One that considered all decisions until now is not computed again.
   * @throws NeededBeforehand, before anything is written
   */
  of(order: StandingOrderEntity): SimulationEntity {
    const { standingOrderId, version, hash } = order;
    return computedBeforehand(`simulation ${standingOrderId} ${version} ${hash}`, async () => {
      const end = await this.history.end(order.workspaceId);
      return (
        (await this.simulations.find(order, end)) ?? this.simulations.keep(await this.simulate(order, end))
      );
    });
  }

  /**
   * Of an order that is being created; {@link keepNew} adds it.
   * @throws NeededBeforehand, before anything is written
   */
  ofNew(order: StandingOrderEntity): SimulationEntity {
    const { standingOrderId, workspaceId } = order;
    const simulated = computedBeforehand(`simulation of a new order ${order.hash} ${order.name}`, async () =>
      this.simulate(order, await this.history.end(workspaceId)),
    );
    // The order that was simulated was never written: its transaction was rolled back.
    return { ...simulated, standingOrderId };
  }

  /** Adds the simulation of an order that the open transaction has added. */
  keepNew(simulation: SimulationEntity): void {
    this.simulations.add(simulation);
  }

  private async simulate(order: StandingOrderEntity, end: EndOfHistory): Promise<SimulationEntity> {
    const { workspaceId } = order;
    const [replayed] = await this.replayHistory.execute(workspaceId, end, [decisionOrderOf(order, 'active')]);
    return this.rowOf(order, end, replayed!);
  }

  private rowOf(
    { workspaceId, standingOrderId, teamId, version }: StandingOrderEntity,
    { until, zone }: EndOfHistory,
    { whole, own }: Simulated,
  ): SimulationEntity {
    return {
      ...whole,
      own,
      workspaceId,
      simulationId: newId('sim'),
      standingOrderId,
      teamId,
      version,
      untilDecisionId: until,
      zone,
      computedAt: this.clock.now(),
    };
  }
}

/** What an order, whatever its status, would have done to the decisions of the past; nothing else changes. */
@Injectable()
export class SimulateStandingOrder {
  constructor(
    private readonly orders: StandingOrders,
    private readonly simulation: OrderSimulation,
  ) {}

  /** @throws NotFound, Forbidden */
  async execute(caller: Caller, standingOrderId: string): Promise<SimulationView> {
    const order = await this.orders.lock(standingOrderId);
    requireRole(caller, order.teamId, 'operator');
    return simulationViewOf(this.simulation.of(order), caller);
  }
}
