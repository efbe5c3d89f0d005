import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import type { StandingOrderRule } from './standing-order.js';
import type { StandingOrderEntity } from './standing-order.entity.js';
import { receiptOf } from './standing-order-view.js';
import { StandingOrders } from './standing-orders.repository.js';

/** An order that nobody has written themselves. */
export interface NewDraft {
  name: string;
  text: string;
  rule: StandingOrderRule;
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
    const at = this.clock.now();
    const order: StandingOrderEntity = {
      ...rule,
      capos: rule.capos && [...rule.capos],
      standingOrderId: newId('so'),
      workspaceId: this.db.unit.scope.workspaceId,
      name,
      text,
      status: 'draft',
      version: 1,
      heldBecause,
      simulation: null,
      evalRunId: null,
      hash: sha256(canonicalJson(rule)),
      createdBy: by,
      createdAt: at,
      updatedAt: at,
      activatedAt: null,
    };
    this.orders.add(order);
    this.receipts.append(receiptOf(order, 'created', by, { rule, ...details }));
    return order;
  }
}
