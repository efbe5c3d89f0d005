import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor, Tier } from '../../platform/auth/caller.js';
import type { LicenceStatus } from './licence.js';

/** The licence that a workspace has installed; what was installed before stands in the receipts. */
@Entity('licences')
export class LicenceEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @Column('text')
  licenceId!: string;
  @Column('bigint')
  number!: number;
  /** The key as it was given, so that its signature can be checked again. */
  @Column('text')
  licenceKey!: string;
  @Column('text')
  tier!: Tier;
  @Column('text', { array: true })
  entitlements!: string[];
  @Column('timestamptz')
  issuedAt!: number;
  @Column('timestamptz')
  expiresAt!: number;
  @Column('timestamptz')
  installedAt!: number;
  @Column('jsonb')
  installedBy!: Actor;
  /** The tier without a licence, which is the workspace's again once this one has run out. */
  @Column('text')
  tierBefore!: Tier;
  /** The last status that the workspace was told about. */
  @Column('text')
  toldStatus!: LicenceStatus;
}
