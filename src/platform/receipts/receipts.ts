import { Injectable } from '@nestjs/common';
import type { Actor } from '../auth/caller.js';
import type { Statement } from '../database/batch.js';
import { Db } from '../database/db.js';
import { Clock } from '../kernel/clock.js';
import { newId } from '../kernel/ids.js';
import { RequestContext } from '../kernel/request-context.js';
import { receiptBody, type ReceiptContent } from './receipt.js';

/** What receipts of one action behind a receipt are about, the newest first: rows of `entity_id` and `seq`. */
export function receiptsBehind(workspaceId: string, action: string, receiptSeq: number): Statement {
  return {
    text: `select entity_id, seq from receipts where workspace_id = $1 and action = $2 and seq > $3 order by seq desc`,
    values: [workspaceId, action, receiptSeq],
  };
}

export type NewReceipt = Pick<ReceiptContent, 'actor' | 'action' | 'entity' | 'summary'> &
  Partial<
    Pick<
      ReceiptContent,
      'receiptId' | 'directiveId' | 'teamId' | 'capo' | 'outcome' | 'details' | 'guardianEpoch'
    >
  > & {
    actor: Actor;
  };

/** Appends to the workspace's chain, in the transaction of the act itself: no act without a receipt, and none without an act. */
@Injectable()
export class Receipts {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
  ) {}

  /** Adds a receipt to the open transaction; it is numbered and hashed with the COMMIT. Answers its id. */
  append(receipt: NewReceipt): string {
    const unit = this.db.unit;
    const receiptId = receipt.receiptId ?? newId('rcp');
    const content: ReceiptContent = {
      receiptId,
      workspaceId: unit.scope.workspaceId,
      at: this.clock.now(),
      actor: receipt.actor,
      action: receipt.action,
      entity: receipt.entity,
      directiveId: receipt.directiveId ?? null,
      teamId: receipt.teamId ?? null,
      capo: receipt.capo ?? null,
      outcome: receipt.outcome ?? 'success',
      summary: receipt.summary,
      details: receipt.details ?? {},
      guardianEpoch: receipt.guardianEpoch ?? null,
      requestId: RequestContext.current?.requestId ?? null,
    };
    unit.receipts.push({
      receiptId,
      at: content.at,
      actorType: content.actor.type,
      actorId: content.actor.id,
      action: content.action,
      entityType: content.entity.type,
      entityId: content.entity.id,
      directiveId: content.directiveId,
      teamId: content.teamId,
      capo: content.capo,
      body: receiptBody(content),
    });
    return receiptId;
  }
}
