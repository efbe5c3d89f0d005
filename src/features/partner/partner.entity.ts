import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Metric } from './confidence-update.js';

@Entity('partner_secrets')
export class PartnerSecretEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @Column('text')
  sealedSecret!: string;
  @Column('text', { nullable: true })
  sealedPrevious!: string | null;
  /** How long the previous secret is accepted as well. */
  @Column('timestamptz', { nullable: true })
  previousUntil!: number | null;
  /** The value of PARTNER_SIGNING_SECRET that was put in force last. */
  @Column('text', { nullable: true })
  sealedConfigured!: string | null;
  @Column('timestamptz')
  setAt!: number;
}

@Entity('partner_events')
export class PartnerEventEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  /** The partner's name for the update; however often it is sent, it counts once. */
  @PrimaryColumn('text')
  partnerEventId!: string;
  @Column('text')
  contentHash!: string;
  @Column('text')
  customerEntitlementId!: string;
  @Column('text')
  partnerTargetId!: string;
  @Column('text')
  metric!: Metric;
  @Column('double precision')
  delta!: number;
  @Column('double precision')
  newConfidence!: number;
  @Column('double precision', { nullable: true })
  priorConfidence!: number | null;
  @Column('jsonb', { nullable: true })
  sourceServiceRef!: { table: string; id: string } | null;
  @Column('timestamptz')
  firedAt!: number;
  @Column('timestamptz')
  receivedAt!: number;
  /** The signal that it raised. */
  @Column('text')
  signalId!: string;
}

/** All buyers of a workspace taken together. */
@Entity('personas')
export class PersonaEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @Column('bigint')
  buyers!: number;
  /** Of the buyers' confidences. */
  @Column('numeric')
  confidenceSum!: number;
  /** How many updates there were. */
  @Column('bigint')
  updates!: number;
  /** When the newest update was fired. */
  @Column('timestamptz')
  lastEventAt!: number;
}

/** One metric, over all buyers that it is known of. */
@Entity('persona_metrics')
export class PersonaMetricEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  metric!: Metric;
  @Column('bigint')
  buyers!: number;
  @Column('numeric')
  confidenceSum!: number;
}

@Entity('buyers')
export class BuyerEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  /** The customer entitlement of the updates. */
  @PrimaryColumn('text')
  buyerId!: string;
  /** 0 to 1: the newest `overall`, or the mean of the metrics while there is none. */
  @Column('double precision')
  confidence!: number;
  /** The weakest metric beside `overall`. */
  @Column('text', { nullable: true })
  topGap!: Metric | null;
  /** When the newest update was fired. */
  @Column('timestamptz')
  updatedAt!: number;
}

@Entity('buyer_metrics')
export class BuyerMetricEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  buyerId!: string;
  @PrimaryColumn('text')
  metric!: Metric;
  @Column('double precision')
  confidence!: number;
  @Column('timestamptz')
  firedAt!: number;
}
