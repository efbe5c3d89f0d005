import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { archive } from './standing-order-status.js';
import { receiptOf, viewOf } from './standing-order-view.js';
import type { StandingOrderView } from './standing-orders.dto.js';
import { StandingOrders } from './standing-orders.repository.js';
import { ThrottledWork } from './throttled-work.js';

/** Ends an order for good. The row stays, since decisions name it. */
@Injectable()
export class ArchiveStandingOrder {
  constructor(
    private readonly orders: StandingOrders,
    private readonly throttled: ThrottledWork,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /** @throws NotFound */
  async execute(caller: Caller, standingOrderId: string): Promise<StandingOrderView> {
    const order = await this.orders.lock(standingOrderId);
    requireRole(caller, order.teamId, 'admin');
    const archived = archive(order, this.clock.now());
    if (!archived) return viewOf(order, caller);
    this.orders.saveStatus(archived);
    this.receipts.append(receiptOf(archived, 'archived', actorOf(caller)));
    await this.throttled.decideAgain();
    return viewOf(archived, caller);
  }
}
