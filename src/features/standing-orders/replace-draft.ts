import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { ActivationExamination } from './activation-examination.js';
import type { NewDraft } from './draft-standing-order.js';
import { columnsOfRule } from './order-content.js';
import type { StandingOrderEntity } from './standing-order.entity.js';
import { receiptOf } from './standing-order-view.js';
import { StandingOrders } from './standing-orders.repository.js';

/** Makes the next version of a draft that nobody has changed since it was written: from a later version of what it came with. */
@Injectable()
export class ReplaceDraft {
  constructor(
    private readonly orders: StandingOrders,
    private readonly examination: ActivationExamination,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /**
   * Of a locked draft, in the open transaction.
   * @throws NeededBeforehand, before anything is written
   */
  async execute(draft: StandingOrderEntity, next: NewDraft, by: Actor): Promise<StandingOrderEntity> {
    const { name, text, rule, heldBecause, details } = next;
    const at = this.clock.now();
    const examined = await this.examination.of(
      {
        ...draft,
        ...columnsOfRule(rule),
        name,
        text,
        version: draft.version + 1,
        simulation: null,
        evalRunId: null,
        updatedAt: at,
      },
      by,
    );
    const version = {
      ...examined.order,
      heldBecause: [heldBecause, examined.heldBecause].filter(Boolean).join(' '),
    };
    this.orders.saveVersion(version, draft, { by, at });
    this.receipts.append(receiptOf(version, 'revised', by, { rule, text, ...examined.details, ...details }));
    return version;
  }
}
