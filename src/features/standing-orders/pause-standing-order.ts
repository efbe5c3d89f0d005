import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { restrains } from './standing-order.js';
import { pause } from './standing-order-status.js';
import { receiptOf, viewOf } from './standing-order-view.js';
import type { StandingOrderView } from './standing-orders.dto.js';
import { StandingOrders } from './standing-orders.repository.js';
import { ThrottledWork } from './throttled-work.js';

/** Silences an order until it is activated again. Anyone who may act may stop; only those who may loosen may loosen. */
@Injectable()
export class PauseStandingOrder {
  constructor(
    private readonly orders: StandingOrders,
    private readonly throttled: ThrottledWork,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /** @throws NotFound, InvalidTransition, or Forbidden when the pause would loosen */
  async execute(caller: Caller, standingOrderId: string): Promise<StandingOrderView> {
    const order = await this.orders.lock(standingOrderId);
    requireRole(caller, order.teamId, 'operator');
    if (order.status !== 'shadow' && restrains(order)) {
      requireRole(
        caller,
        order.teamId,
        'admin',
        'Only an admin may pause a standing order that restricts work packets.',
      );
    }
    const paused = pause(order, this.clock.now());
    if (!paused) return viewOf(order, caller);
    this.orders.saveStatus(paused);
    this.receipts.append(receiptOf(paused, 'paused', actorOf(caller)));
    await this.throttled.decideAgain();
    return viewOf(paused, caller);
  }
}
