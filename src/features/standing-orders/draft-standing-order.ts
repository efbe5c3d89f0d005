import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { newOrder, type OrderContent } from './order-content.js';
import type { StandingOrderEntity } from './standing-order.entity.js';
import { receiptOf } from './standing-order-view.js';
import { StandingOrders } from './standing-orders.repository.js';

/** An order that nobody has written themselves. */
export interface NewDraft extends OrderContent {
  /** Where it comes from, for whoever activates it. */
  heldBecause: string;
  /** For its receipt, beside the rule. */
  details?: Record<string, unknown>;
}

/** Adds an order that decides nothing until a person activates it: from a suggestion, or from what a capo proposed. */
@Injectable()
export class DraftStandingOrder {
  constructor(
    private readonly db: Db,
    private readonly orders: StandingOrders,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /** In the open transaction. */
  execute({ name, text, rule, heldBecause, details }: NewDraft, by: Actor): StandingOrderEntity {
    const { workspaceId } = this.db.unit.scope;
    const order = newOrder({ workspaceId, name, text, rule }, by, this.clock.now(), heldBecause);
    this.orders.add(order);
    this.receipts.append(receiptOf(order, 'created', by, { rule, ...details }));
    return order;
  }
}
