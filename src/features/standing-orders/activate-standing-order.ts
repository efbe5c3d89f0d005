import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Clock } from '../../platform/kernel/clock.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { ActionReversibility } from './action-reversibility.js';
import { BeforeActivation } from './before-activation.js';
import { relaxesIrreversible } from './standing-order.js';
import { activate } from './standing-order-status.js';
import { receiptOf, viewOf } from './standing-order-view.js';
import type { StandingOrderView } from './standing-orders.dto.js';
import { StandingOrders } from './standing-orders.repository.js';

/** Lets an order decide from now on; one that relaxes what cannot be undone takes an owner who says that they know. */
@Injectable()
export class ActivateStandingOrder {
  constructor(
    private readonly orders: StandingOrders,
    private readonly reversibility: ActionReversibility,
    private readonly beforeActivation: BeforeActivation,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /** @throws NotFound, InvalidTransition, Forbidden, or ValidationFailed without the acknowledgement */
  async execute(caller: Caller, standingOrderId: string, acknowledged: boolean): Promise<StandingOrderView> {
    const order = await this.orders.lock(standingOrderId);
    requireRole(caller, order.teamId, 'admin');
    const active = activate(order, this.clock.now());
    if (!active) return viewOf(order);
    const relaxes = relaxesIrreversible(order, this.reversibility.within(order.capos));
    if (relaxes) {
      requireRole(
        caller,
        order.teamId,
        'owner',
        'It allows work packets that cannot be undone, so only an owner may activate it.',
      );
      if (!acknowledged) throw notAcknowledged();
    }
    await this.beforeActivation.run(actorOf(caller));
    this.orders.saveStatus(active);
    this.receipts.append(receiptOf(active, 'activated', actorOf(caller), { acknowledged: relaxes }));
    return viewOf(active);
  }
}

function notAcknowledged() {
  const message = 'the order allows work packets that cannot be undone: acknowledge must be true';
  return new ValidationFailed({ details: [{ path: 'acknowledge', rule: 'equals', message }] });
}
