import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { type NewReceipt, Receipts } from '../../platform/receipts/receipts.js';
import { ModelChargeEntity } from './model-charge.entity.js';
import { isPaid, type Paid } from './paid.js';

/**
 * Keeps what models cost that belongs to no directive: answers in the chat, sections of reports. The receipt and the amount that
 * `GET /metrics` and `GET /kpi` add up are written together, so that they never differ.
 */
@Injectable()
export class ModelCharges {
  constructor(
    private readonly db: Db,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /** Appends the receipt with what was paid; in the open transaction, which sees every team. */
  receipt(receipt: NewReceipt, paid: Paid): void {
    const { engine, cost } = paid;
    const receiptId = this.receipts.append({ ...receipt, details: { ...receipt.details, engine, cost } });
    if (!isPaid(paid)) return;
    this.db.insert(ModelChargeEntity, {
      workspaceId: this.db.unit.scope.workspaceId,
      receiptId,
      teamId: null,
      capo: receipt.capo ?? null,
      ...cost,
      chargedAt: this.clock.now(),
    });
  }
}
