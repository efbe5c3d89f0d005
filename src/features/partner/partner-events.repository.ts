import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { KnownMetric } from './buyer.js';
import { Buyers } from './buyers.repository.js';
import type { ConfidenceUpdate } from './confidence-update.js';
import type { PartnerEventEntity } from './partner.entity.js';

/**
 * The constraint decides which of several equal requests is the first; the others wait for it and come away empty. The
 * first takes the persona of its workspace, and with it its turn among the updates there.
 */
const RECORD = /* sql */ `
with event as (
  insert into partner_events (workspace_id, partner_event_id, content_hash, customer_entitlement_id, partner_target_id,
    metric, delta, new_confidence, prior_confidence, source_service_ref, fired_at, received_at, signal_id)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, $11, $12, $13)
  on conflict on constraint partner_events_once do nothing
  returning workspace_id, fired_at
)
insert into personas as p (workspace_id, updates, last_event_at) select workspace_id, 1, fired_at from event
on conflict (workspace_id) do update
  set updates = p.updates + 1, last_event_at = greatest(p.last_event_at, excluded.last_event_at)
returning workspace_id`;

@Injectable()
export class PartnerEvents {
  constructor(
    private readonly db: Db,
    private readonly buyers: Buyers,
  ) {}

  /**
   * Records an update in the open transaction, once per `partnerEventId`, and answers what was known of its buyer,
   * which stays so until the COMMIT. Undefined when there is an update by that id.
   */
  async record(
    update: ConfidenceUpdate,
    {
      contentHash,
      receivedAt,
      signalId,
    }: Pick<PartnerEventEntity, 'contentHash' | 'receivedAt' | 'signalId'>,
  ): Promise<KnownMetric[] | undefined> {
    const { unit } = this.db;
    const { workspaceId } = unit.scope;
    const values = [
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
    ];
    const [recorded, known] = await unit.batch([
      { text: RECORD, values },
      // Another statement, since it has to see what those before it in line have committed.
      this.buyers.metricsStatement(workspaceId, update.customerEntitlementId),
    ]);
    return recorded!.length === 0 ? undefined : (known as KnownMetric[]);
  }

  /** The update by this id, which must have been recorded. */
  async get(partnerEventId: string): Promise<Pick<PartnerEventEntity, 'contentHash' | 'signalId'>> {
    const [recorded] = await this.db.query<Pick<PartnerEventEntity, 'contentHash' | 'signalId'>>(
      'select content_hash, signal_id from partner_events where workspace_id = $1 and partner_event_id = $2',
      [this.db.unit.scope.workspaceId, partnerEventId],
    );
    return recorded!;
  }
}
