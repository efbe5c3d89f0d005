import { Injectable } from '@nestjs/common';
import type { Statement } from '../../platform/database/batch.js';
import { Db } from '../../platform/database/db.js';
import { insertOf, selectOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { BuyerChange, ConfidenceUpdate, KnownMetric } from './confidence-update.js';
import { PartnerEventEntity, PartnerSecretEntity } from './partner.entity.js';

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

/** Confidence updates, and what they add up to: of each buyer, and of all of them. */
@Injectable()
export class PartnerEvents {
  constructor(private readonly db: Db) {}

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
      this.metricsStatement(workspaceId, update.customerEntitlementId),
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

  /**
   * Writes what an update changes, of its buyer and of what all buyers add up to. The sums give up the value before for
   * the value after, as decimals, so that they stay what adding all up would give.
   */
  changeBuyer(buyerId: string, { buyer, buyerBefore, metric, metricBefore }: BuyerChange): void {
    const { workspaceId } = this.db.unit.scope;
    this.db.write(
      `insert into buyers (workspace_id, buyer_id, confidence, top_gap, updated_at) values ($1, $2, $3, $4, $5)
       on conflict (workspace_id, buyer_id) do update
         set confidence = excluded.confidence, top_gap = excluded.top_gap, updated_at = excluded.updated_at`,
      [workspaceId, buyerId, buyer.confidence, buyer.topGap, new Date(buyer.updatedAt)],
    );
    this.db.write(
      `insert into buyer_metrics (workspace_id, buyer_id, metric, confidence, fired_at) values ($1, $2, $3, $4, $5)
       on conflict (workspace_id, buyer_id, metric) do update
         set confidence = excluded.confidence, fired_at = excluded.fired_at`,
      [workspaceId, buyerId, metric.metric, metric.confidence, new Date(metric.firedAt)],
    );
    this.db.write(
      `insert into persona_metrics as m (workspace_id, metric, buyers, confidence_sum)
       values ($1, $2, $3, $4::numeric - $5::numeric)
       on conflict (workspace_id, metric) do update
         set buyers = m.buyers + excluded.buyers, confidence_sum = m.confidence_sum + excluded.confidence_sum`,
      [workspaceId, metric.metric, metricBefore === null ? 1 : 0, metric.confidence, metricBefore ?? 0],
    );
    this.db.write(
      `update personas set buyers = buyers + $2, confidence_sum = confidence_sum + $3::numeric - $4::numeric
       where workspace_id = $1`,
      [workspaceId, buyerBefore === null ? 1 : 0, buyer.confidence, buyerBefore ?? 0],
    );
  }

  /** The known metrics of a buyer (`KnownMetric`), for the holder of the workspace's persona. */
  private metricsStatement(workspaceId: string, buyerId: string): Statement {
    return {
      text: 'select metric, confidence, fired_at from buyer_metrics where workspace_id = $1 and buyer_id = $2',
      values: [workspaceId, buyerId],
    };
  }
}

/** What a request may be signed with, as it is stored. */
type SealedSecrets = Pick<PartnerSecretEntity, 'sealedSecret' | 'sealedPrevious' | 'previousUntil'>;

@Injectable()
export class PartnerSecrets {
  constructor(private readonly db: Db) {}

  /** Looks across workspaces, since it is the signature that says who sends. */
  async find(workspaceId: string): Promise<SealedSecrets | undefined> {
    const [row] = await this.db.system<SealedSecrets>('select * from app.find_partner_secret($1)', [
      workspaceId,
    ]);
    return row;
  }

  /** The secret of the workspace, in the open transaction; undefined while it has none. */
  get(workspaceId: string): Promise<PartnerSecretEntity | undefined> {
    return this.db.findOne(this.db.unit.scope, PartnerSecretEntity, { workspaceId });
  }

  /** That of the workspace as it is sealed; undefined while it has none. */
  async sealed(scope: Scope): Promise<string | undefined> {
    const { workspaceId } = scope;
    return (await this.db.findOne(scope, PartnerSecretEntity, { workspaceId }))?.sealedSecret;
  }

  /** The workspace that the first start made. */
  async firstWorkspace(): Promise<string> {
    const [row] = await this.db.system<{ workspaceId: string }>(
      'select app.first_workspace() as workspace_id',
    );
    return row!.workspaceId;
  }

  /** What is stored, in the open transaction; who else asks for the same waits until it has ended. */
  async lockShared(): Promise<PartnerSecretEntity | undefined> {
    const { workspaceId } = this.db.unit.scope;
    const [, rows] = await this.db.unit.batch([
      {
        text: `select pg_advisory_xact_lock(hashtextextended('partner secret ' || $1, 1))`,
        values: [workspaceId],
      },
      selectOf(PartnerSecretEntity, { workspaceId }),
    ]);
    return (rows as PartnerSecretEntity[])[0];
  }

  /** Puts a secret in force; the one before it stays good until `previousUntil`. True when there was one. */
  async replace(
    sealedSecret: string,
    { setAt, previousUntil }: { setAt: number; previousUntil: number },
  ): Promise<boolean> {
    const [row] = await this.db.query<{ replaced: boolean }>(
      `insert into partner_secrets as kept (workspace_id, sealed_secret, set_at) values ($1, $2, $3)
       on conflict (workspace_id) do update set sealed_secret = excluded.sealed_secret, set_at = excluded.set_at,
         sealed_previous = kept.sealed_secret, previous_until = $4
       returning sealed_previous is not null as replaced`,
      [this.db.unit.scope.workspaceId, sealedSecret, new Date(setAt), new Date(previousUntil)],
    );
    return row!.replaced;
  }

  /** Remembers which configured value is, or was, in force. */
  noteConfigured(sealedConfigured: string): void {
    const { workspaceId } = this.db.unit.scope;
    this.db.update(PartnerSecretEntity, { workspaceId }, { sealedConfigured });
  }
}
