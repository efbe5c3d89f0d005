import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { archive } from './standing-order-status.js';
import { receiptOf } from './standing-order-view.js';
import { StandingOrders } from './standing-orders.repository.js';

/**
 * Takes back that a capo proposed a standing order: the draft is archived. One that a person has put into force is theirs by now,
 * and stays.
 */
@Injectable()
export class WithdrawProposal {
  constructor(
    private readonly orders: StandingOrders,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /** In the open transaction. Answers why it stays, or null when it is archived, or was already. */
  async execute(standingOrderId: string, by: Actor): Promise<string | null> {
    const order = await this.orders.lock(standingOrderId).catch(undefinedWhenGone);
    if (!order) return null;
    if (order.status !== 'draft' && order.status !== 'archived') {
      return `A person has made the standing order "${order.name}" ${order.status} since; archive it by hand if it is not wanted.`;
    }
    const archived = archive(order, this.clock.now());
    if (archived) {
      this.orders.saveStatus(archived);
      this.receipts.append(receiptOf(archived, 'archived', by));
    }
    return null;
  }
}

function undefinedWhenGone(error: unknown): undefined {
  if (!(error instanceof NotFound)) throw error;
}
