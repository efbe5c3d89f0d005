import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { ConfidenceUpdate } from './confidence-update.js';
import type { PartnerEventEntity } from './partner.entity.js';

/** What was made of an update when it came first. */
export type RecordedUpdate = Pick<PartnerEventEntity, 'contentHash' | 'signalId'>;

/**
 * The constraint decides which of several equal requests is the first; the others wait for it and come away empty. The
 * buyer's row is taken before any metric of the buyer, so that updates of one buyer follow each other.
 */
const RECORD = /* sql */ `
with event as (
  insert into partner_events (workspace_id, partner_event_id, content_hash, customer_entitlement_id, partner_target_id,
    metric, delta, new_confidence, prior_confidence, source_service_ref, fired_at, received_at, signal_id)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, $11, $12, $13)
  on conflict on constraint partner_events_once do nothing
  returning workspace_id, customer_entitlement_id as buyer_id, metric, new_confidence, fired_at
), buyer as (
  insert into buyers as b (workspace_id, buyer_id, confidence, updates, updated_at)
  select workspace_id, buyer_id, new_confidence, 1, fired_at from event
  on conflict (workspace_id, buyer_id) do update set updates = b.updates + 1
  returning buyer_id
), newest as (
  insert into buyer_metrics as m (workspace_id, buyer_id, metric, confidence, fired_at)
  select workspace_id, buyer_id, metric, new_confidence, fired_at from event join buyer using (buyer_id)
  on conflict (workspace_id, buyer_id, metric) do update
    set confidence = excluded.confidence, fired_at = excluded.fired_at where m.fired_at <= excluded.fired_at
  returning metric
)
select exists (select from newest) as is_newest from event`;

/** A statement of its own: it has to see what those before it in line have committed. */
const SUM_UP = /* sql */ `
update buyers set confidence = sum.confidence, top_gap = sum.top_gap, updated_at = sum.updated_at
from (
  select coalesce(max(confidence) filter (where metric = 'overall'), avg(confidence)) as confidence,
    (array_agg(metric order by confidence, metric) filter (where metric <> 'overall'))[1] as top_gap,
    max(fired_at) as updated_at
  from buyer_metrics where workspace_id = $1 and buyer_id = $2
) sum
where workspace_id = $1 and buyer_id = $2`;

@Injectable()
export class PartnerEvents {
  constructor(private readonly db: Db) {}

  /**
   * Records an update in the open transaction, once per `partnerEventId`, and what it makes of its buyer. Undefined
   * when there is one by that id; `isNewest` is false for one that was overtaken, which changes no confidence.
   */
  async record(
    update: ConfidenceUpdate,
    {
      contentHash,
      receivedAt,
      signalId,
    }: Pick<PartnerEventEntity, 'contentHash' | 'receivedAt' | 'signalId'>,
  ): Promise<{ isNewest: boolean } | undefined> {
    const { workspaceId } = this.db.unit.scope;
    const [recorded] = await this.db.query<{ isNewest: boolean }>(RECORD, [
      workspaceId,
      update.partnerEventId,
      contentHash,
      update.customerEntitlementId,
      update.partnerTargetId,
      update.metric,
      update.delta,
      update.newConfidence,
      update.priorConfidence,
      update.sourceServiceRef && JSON.stringify(update.sourceServiceRef),
      new Date(update.firedAt),
      new Date(receivedAt),
      signalId,
    ]);
    if (recorded?.isNewest) this.db.write(SUM_UP, [workspaceId, update.customerEntitlementId]);
    return recorded;
  }

  /** The update by this id, which must have been recorded. */
  async get(partnerEventId: string): Promise<RecordedUpdate> {
    const [recorded] = await this.db.query<RecordedUpdate>(
      'select content_hash, signal_id from partner_events where workspace_id = $1 and partner_event_id = $2',
      [this.db.unit.scope.workspaceId, partnerEventId],
    );
    return recorded!;
  }
}
