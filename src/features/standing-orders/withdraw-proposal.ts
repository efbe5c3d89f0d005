import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import type { StandingOrderEntity } from './standing-order.entity.js';
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

  /** What {@link execute} would answer as things stand. */
  async refusal(scope: Scope, standingOrderId: string): Promise<string | null> {
    const order = await this.orders.get(scope, standingOrderId).catch(undefinedWhenGone);
    return order ? refusalOf(order) : null;
  }

  /** In the open transaction. Answers why it stays, or null when it is archived, or was already. */
  async execute(standingOrderId: string, by: Actor): Promise<string | null> {
    const order = await this.orders.lock(standingOrderId).catch(undefinedWhenGone);
    if (!order) return null;
    const refusal = refusalOf(order);
    if (refusal !== null) return refusal;
    const archived = archive(order, this.clock.now());
    if (archived) {
      this.orders.saveStatus(archived);
      this.receipts.append(receiptOf(archived, 'archived', by));
    }
    return null;
  }
}

function refusalOf({ name, status }: StandingOrderEntity): string | null {
  if (status === 'draft' || status === 'archived') return null;
  return `A person has made the standing order "${name}" ${status} since; archive it by hand if it is not wanted.`;
}

function undefinedWhenGone(error: unknown): undefined {
  if (!(error instanceof NotFound)) throw error;
}
