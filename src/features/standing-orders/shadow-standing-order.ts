import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { shadow } from './standing-order-status.js';
import { receiptOf, viewOf } from './standing-order-view.js';
import type { StandingOrderView } from './standing-orders.dto.js';
import { StandingOrders } from './standing-orders.repository.js';
import { ThrottledWork } from './throttled-work.js';
import { requireVersionRead, type VersionRead } from './version-read.js';

/** Tries an order out: each decision says what it would have changed, and it changes nothing. */
@Injectable()
export class ShadowStandingOrder {
  constructor(
    private readonly orders: StandingOrders,
    private readonly throttled: ThrottledWork,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /** @throws NotFound, Forbidden, what {@link requireVersionRead} throws, or InvalidTransition for an order that is archived or has expired */
  async execute(caller: Caller, standingOrderId: string, read: VersionRead): Promise<StandingOrderView> {
    const order = await this.orders.lock(standingOrderId);
    requireRole(caller, order.teamId, 'admin');
    requireVersionRead(order, read, false);
    const shadowed = shadow(order, this.clock.now());
    if (!shadowed) return viewOf(order, caller);
    this.orders.saveStatus(shadowed);
    this.receipts.append(receiptOf(shadowed, 'shadowed', actorOf(caller)));
    if (order.status === 'active') await this.throttled.decideAgain();
    return viewOf(shadowed, caller);
  }
}
