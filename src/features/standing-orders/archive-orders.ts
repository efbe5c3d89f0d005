import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { tightens } from './standing-order.js';
import { archive } from './standing-orders.service.js';
import type { StandingOrderEntity } from './standing-order.entity.js';
import { receiptOf } from './standing-order-view.js';
import { StandingOrders } from './standing-orders.repository.js';
import { ThrottledWork } from './throttled-work.js';

interface Ending {
  /** For the receipt of each. */
  details: Record<string, unknown>;
  /** Leaves in force what restrains: no person has asked for more to be let through. */
  keepRestraints?: boolean;
}

/** The ids of those that are archived now and were not before, and of those that stay in force. */
export interface ArchivedOrders {
  archived: string[];
  kept: string[];
}

/** Ends several orders for good, whatever their status: what they came with has ended. */
@Injectable()
export class ArchiveOrders {
  constructor(
    private readonly orders: StandingOrders,
    private readonly throttled: ThrottledWork,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /** In the open transaction, which sees the whole workspace. */
  async execute(
    standingOrderIds: readonly string[],
    by: Actor,
    { details, keepRestraints = false }: Ending,
  ): Promise<ArchivedOrders> {
    if (standingOrderIds.length === 0) return { archived: [], kept: [] };
    const orders = await this.orders.lockUnarchived(standingOrderIds);
    const at = this.clock.now();
    const kept = orders.filter((order) => keepRestraints && order.status === 'active' && tightens(order));
    const ending = orders.filter((order) => !kept.includes(order));
    for (const order of ending) {
      const archived = archive(order, at)!;
      this.orders.saveStatus(archived);
      this.receipts.append(receiptOf(archived, 'archived', by, { ...details, from: order.status }));
    }
    await this.throttled.decideAgain();
    return { archived: ending.map(idOf), kept: kept.map(idOf) };
  }
}

function idOf({ standingOrderId }: StandingOrderEntity): string {
  return standingOrderId;
}
