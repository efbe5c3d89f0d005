import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import type { Id } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { columnsOfRule, ruleOf } from './order-content.js';
import type { StandingOrderEntity } from './standing-order.entity.js';
import { receiptOf } from './standing-order-view.js';
import { StandingOrders } from './standing-orders.repository.js';
import { ThrottledWork } from './throttled-work.js';

/**
 * Gives the orders of a team that ends to another team, or to none. Whose order it is belongs to its rule, so each move is
 * a version. Orders that allow something are paused: nobody has allowed it there.
 */
@Injectable()
export class MoveOrders {
  constructor(
    private readonly orders: StandingOrders,
    private readonly throttled: ThrottledWork,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /**
   * In the open transaction, which sees the whole workspace. Answers how many orders are paused.
   * @param to whose they are from now on, and how a receipt says that: `to the team Sales`, `to no team`
   */
  async execute(from: string, to: { teamId: Id<'team'> | null; where: string }, by: Actor): Promise<number> {
    const at = this.clock.now();
    const orders = await this.orders.lockOfTeam(from);
    const moved = orders.map((order) => ({ order, next: movedTo(to.teamId, order, at) }));
    for (const { order, next } of moved) {
      this.orders.saveVersion(next, order, { by, at });
      const isPaused = next.status !== order.status;
      const details = { rule: ruleOf(next), text: next.text, from, to: to.teamId, isPaused };
      this.receipts.append({
        ...receiptOf(next, 'moved', by, details),
        summary: `${by.name} moved the standing order "${order.name}" ${to.where}${isPaused ? ', and paused it' : ''}.`,
      });
    }
    await this.throttled.decideAgain();
    return moved.filter(({ order, next }) => next.status !== order.status).length;
  }
}

function movedTo(teamId: Id<'team'> | null, order: StandingOrderEntity, at: number): StandingOrderEntity {
  const isLetting = order.effect === 'allow' && (order.status === 'active' || order.status === 'shadow');
  return {
    ...order,
    ...columnsOfRule({ ...ruleOf(order), teamId }),
    version: order.version + 1,
    status: isLetting ? 'paused' : order.status,
    simulation: null,
    evalRunId: null,
    updatedAt: at,
  };
}
