import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { insertOf } from '../../platform/database/table.js';
import type { KnownMetric } from './buyer.js';
import { Buyers } from './buyers.repository.js';
import type { ConfidenceUpdate } from './confidence-update.js';
import { PartnerEventEntity } from './partner.entity.js';

/**
 * The constraint decides which of several equal requests is the first; the others wait for it and come away empty. The
 * first takes the persona of its workspace, and with it its turn among the updates there.
 */
const record = (insert: string) => /* sql */ `
with event as (
  ${insert}
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
    const { text, values } = insertOf(PartnerEventEntity, {
      ...update,
      workspaceId,
      contentHash,
      receivedAt,
      signalId,
    });
    const [recorded, known] = await unit.batch([
      { text: record(text), values },
      // Another statement, since it has to see what those before it in line have committed.
      this.buyers.metricsStatement(workspaceId, update.customerEntitlementId),
    ]);
    return recorded!.length === 0 ? undefined : (known as KnownMetric[]);
  }

  /** The update by this id, which must have been recorded. */
  async get(partnerEventId: string): Promise<Pick<PartnerEventEntity, 'contentHash' | 'signalId'>> {
    const { scope } = this.db.unit;
    const { workspaceId } = scope;
    const recorded = await this.db.findOne(scope, PartnerEventEntity, { workspaceId, partnerEventId });
    return recorded!;
  }
}
