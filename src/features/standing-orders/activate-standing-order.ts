import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import {
  ActivationExamination,
  allowsIrreversible,
  requireAcknowledgement,
  requireOwner,
} from './activation-examination.js';
import { activate } from './standing-order-status.js';
import { receiptOf, viewOf } from './standing-order-view.js';
import type { ActivateStandingOrderBody, StandingOrderView } from './standing-orders.dto.js';
import { StandingOrders } from './standing-orders.repository.js';
import { requireVersionRead } from './version-read.js';

/** Lets an order decide from now on; where something speaks against it, it takes an owner who says that they know. */
@Injectable()
export class ActivateStandingOrder {
  constructor(
    private readonly orders: StandingOrders,
    private readonly examination: ActivationExamination,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /**
   * @param ifMatch the hash of what the caller has read
   * @throws NotFound, InvalidTransition, Forbidden, what {@link requireVersionRead} throws, or SimulationRequired without the
   * acknowledgement of an owner
   */
  async execute(
    caller: Caller,
    standingOrderId: string,
    { acknowledge, version }: ActivateStandingOrderBody,
    ifMatch: string | null,
  ): Promise<StandingOrderView> {
    const acknowledged = acknowledge === true;
    const order = await this.orders.lock(standingOrderId);
    requireRole(caller, order.teamId, 'admin');
    requireVersionRead(order, { version, hash: ifMatch }, acknowledged);
    if (!activate(order, this.clock.now())) return viewOf(order, caller);
    // Known without looking at the past, so who may not do it is told before anything is computed.
    if (acknowledged && (await this.examination.relaxesIrreversible(order))) {
      requireOwner(caller, order, [allowsIrreversible(order)]);
    }
    const by = actorOf(caller);
    const examined = await this.examination.of(order, by);
    requireAcknowledgement(examined, acknowledged, caller);
    await this.examination.beforeActivation();
    const active = activate(examined.order, this.clock.now())!;
    this.orders.saveStatus(active);
    this.receipts.append(
      receiptOf(active, 'activated', by, {
        acknowledged: examined.heldBecause !== null,
        ...examined.details,
      }),
    );
    return viewOf(active, caller);
  }
}
