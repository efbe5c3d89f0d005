import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { ActivationExamination } from './activation-examination.js';
import { newOrder, ruleOf, type OrderContent } from './order-content.js';
import type { StandingOrderEntity } from './standing-order.entity.js';
import { receiptOf } from './standing-order-view.js';
import { StandingOrders } from './standing-orders.repository.js';

/** An order that nobody has written themselves. */
export interface NewDraft extends OrderContent {
  /** Its origin, for the person who activates it. */
  heldBecause: string;
  /** For its receipt, beside the rule. */
  details?: Record<string, unknown>;
}

/**
 * Adds an order that decides nothing until a person activates it: from a suggestion, from what a capo proposed, or from a
 * skill pack.
 */
@Injectable()
export class DraftStandingOrder {
  constructor(
    private readonly db: Db,
    private readonly orders: StandingOrders,
    private readonly examination: ActivationExamination,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /** In the open transaction. */
  execute(draft: NewDraft, by: Actor): StandingOrderEntity {
    const order = this.orderOf(draft, by);
    this.add(order, draft.details, by);
    return order;
  }

  /**
   * {@link execute}, with its simulation and its safety eval, as an order that a person creates.
   * @throws NeededBeforehand, before anything is written
   */
  async examined(draft: NewDraft, by: Actor): Promise<StandingOrderEntity> {
    const examined = await this.examination.ofNew(this.orderOf(draft, by), by);
    const heldBecause = [draft.heldBecause, examined.heldBecause].filter(Boolean).join(' ');
    const order = { ...examined.order, heldBecause };
    this.add(order, { ...draft.details, ...examined.details }, by);
    this.examination.keepNew(examined);
    return order;
  }

  private add(order: StandingOrderEntity, details: Record<string, unknown> | undefined, by: Actor): void {
    this.orders.add(order);
    this.receipts.append(receiptOf(order, 'created', by, { rule: ruleOf(order), ...details }));
  }

  private orderOf({ name, text, rule, heldBecause }: NewDraft, by: Actor): StandingOrderEntity {
    const { workspaceId } = this.db.unit.scope;
    return newOrder({ workspaceId, name, text, rule }, by, this.clock.now(), heldBecause);
  }
}
