import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../platform/auth/caller.js';
import { requireRole } from '../../../platform/auth/require-role.js';
import { StandingOrders } from '../standing-orders.repository.js';
import { OrderSimulation } from './order-simulation.js';
import { simulationViewOf } from './simulation-view.js';
import type { SimulationView } from './simulation.dto.js';

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
