import { z } from 'zod';
import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { defineError } from '../../platform/kernel/define-error.js';
import { count } from '../../platform/kernel/error-details.js';
import { AlreadyExists } from '../../platform/kernel/errors.js';
import { type Id, newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Signals } from '../records/index.js';
import {
  changeOf,
  type ConfidenceUpdate,
  contentHash,
  isFresh,
  severityOf,
  wordingOf,
} from './confidence-update.js';
import { PartnerEvents } from './partner.repository.js';
import type { ConfidenceUpdateBody, InductionAnswer } from './partner.dto.js';

export const StaleEvent = defineError(
  'STALE_EVENT',
  400,
  'firedAt is more than 5 minutes before or after the current time.',
  {
    details: z.object({
      firedAt: count('The time of the event, Unix milliseconds.', 1_771_401_600_000),
      serverTime: count('The current time, Unix milliseconds.', 1_771_402_200_000),
    }),
  },
);

/**
 * Accepts an update whose signature is valid (CONTRACT, Partner): freshness, then the partner's own event id, then the
 * effect, with its signal and its receipts in one transaction. However often an update is sent, it has one effect.
 */
@Injectable()
export class AcceptConfidenceUpdate {
  constructor(
    private readonly db: Db,
    private readonly events: PartnerEvents,
    private readonly signals: Signals,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /** @throws StaleEvent, or AlreadyExists when the event id names an update with other content */
  async execute(workspaceId: string, body: ConfidenceUpdateBody): Promise<InductionAnswer> {
    const update = updateOf(body);
    const receivedAt = this.clock.now();
    const { firedAt, partnerEventId } = update;
    if (!isFresh(firedAt, receivedAt)) throw new StaleEvent({ details: { firedAt, serverTime: receivedAt } });
    const hash = contentHash(update);
    const signalId = newId('sig');
    return this.db.transaction({ workspaceId, teamIds: 'all' }, async () => {
      const known = await this.events.record(update, { contentHash: hash, receivedAt, signalId });
      if (!known) return this.alreadyAccepted(partnerEventId, hash);
      const change = changeOf(known, update);
      if (change) this.events.changeBuyer(update.customerEntitlementId, change);
      this.tell(update, signalId, change !== undefined);
      return { accepted: true, duplicate: false, partnerEventId, signalId };
    });
  }

  private async alreadyAccepted(partnerEventId: string, hash: string): Promise<InductionAnswer> {
    const { contentHash: first, signalId } = await this.events.get(partnerEventId);
    if (first === hash) return { accepted: true, duplicate: true, partnerEventId, signalId };
    throw new AlreadyExists({
      message: 'This partnerEventId was already used for an update with different content.',
      details: { partnerEventId },
    });
  }

  private tell(update: ConfidenceUpdate, signalId: Id<'sig'>, isNewest: boolean): void {
    const { partnerEventId, partnerTargetId, customerEntitlementId, ...figures } = update;
    const { title, body } = wordingOf(update);
    const actor: Actor = {
      type: 'partner',
      id: partnerTargetId,
      name: 'Partner persona service',
      via: 'api',
    };
    this.receipts.append({
      actor,
      action: 'partner.confidence_updated',
      entity: { type: 'partner_event', id: partnerEventId },
      summary: `${actor.name} reported: ${title}.`,
      details: { ...figures, customerEntitlementId, partnerTargetId, signalId, isNewest },
    });
    this.signals.raise(
      {
        type: 'confidence',
        severity: severityOf(update.delta),
        title,
        body,
        score: update.newConfidence,
        source: actor,
        teamId: null,
        entity: { type: 'buyer', id: customerEntitlementId },
      },
      signalId,
    );
  }
}

/** What was left out is null, so that two ways to say nothing are one content. */
function updateOf(body: ConfidenceUpdateBody): ConfidenceUpdate {
  return {
    customerEntitlementId: body.customerEntitlementId,
    partnerTargetId: body.partnerTargetId,
    partnerEventId: body.partnerEventId,
    metric: body.metric,
    delta: body.delta,
    newConfidence: body.newConfidence,
    priorConfidence: body.priorConfidence ?? null,
    sourceServiceRef: body.sourceServiceRef ?? null,
    firedAt: body.firedAt,
  };
}
