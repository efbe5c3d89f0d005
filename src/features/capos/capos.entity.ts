import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';
import type { CapoRole } from '../terms/index.js';

/** What models cost that belongs to no directive; what belongs to one stands with the directive. */
@Entity('model_charges')
export class ModelChargeEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  /** Of the receipt that tells of it. */
  @PrimaryColumn('text')
  receiptId!: string;
  /** Always null: it is the workspace's, for those who see the rows of no team. */
  @Column('text', { nullable: true })
  teamId!: string | null;
  @Column('text', { nullable: true })
  capo!: string | null;
  @Column('numeric', { precision: 18, scale: 6 })
  amount!: number;
  @Column('text')
  currency!: string;
  @Column('bigint')
  tokensIn!: number;
  @Column('bigint')
  tokensOut!: number;
  @Column('timestamptz')
  chargedAt!: number;
}

/** A capo that an admin has told to wait. */
@Entity('paused_capos')
export class PausedCapoEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  capo!: CapoRole;
  @Column('jsonb')
  pausedBy!: Actor;
  @Column('timestamptz')
  pausedAt!: number;
}
