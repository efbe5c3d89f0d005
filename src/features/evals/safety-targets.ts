import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/kernel/clock.js';
import {
  ActionReversibility,
  OrderTools,
  type StandingOrderEntity,
  SurroundingsOfOrder,
  ruleFaults,
} from '../standing-orders/index.js';
import type { SafetyTarget } from './safety-target.js';

/** Puts together what the safety of an order depends on, in the open transaction. */
@Injectable()
export class SafetyTargets {
  constructor(
    private readonly surroundings: SurroundingsOfOrder,
    private readonly actions: ActionReversibility,
    private readonly orderTools: OrderTools,
    private readonly clock: Clock,
  ) {}

  async of(order: StandingOrderEntity): Promise<SafetyTarget> {
    const at = this.clock.now();
    const { others, mostSpent } = await this.surroundings.read(order, at);
    const { budget } = order;
    const spent = budget && mostSpent !== null ? { [budget.currency]: mostSpent } : {};
    const named = await this.orderTools.active(order.workspaceId, [order.match]);
    const parameters = await this.orderTools.parameters(order.workspaceId, order.match);
    const faults = ruleFaults(order, this.actions.known(), at, parameters);
    const tools = named.map(({ name, reversibility, recipientsPath, amountPath }) => [
      name,
      {
        classes: [reversibility],
        engines: [],
        reachesPeople: recipientsPath !== null,
        carriesAmount: amountPath !== null,
      },
    ]);
    return { order: { ...order, tools: Object.fromEntries(tools) }, others, spent, faults, at };
  }
}
