import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Outcome } from './packet-effect.js';

/** That an attempt at something outside began, or what came of it. Rows are added, and never changed. */
@Entity('outside_attempts')
export class OutsideAttemptEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  workPacketId!: string;
  /** The revert whose undo it is; empty where the work packet itself is carried out. */
  @PrimaryColumn('text')
  revertId!: string;
  @PrimaryColumn('int')
  attempt!: number;
  @PrimaryColumn('text')
  event!: 'begun' | 'ended';
  /** By the database's clock. */
  @Column('timestamptz')
  at!: number;
  @Column('jsonb', { nullable: true })
  outcome!: Outcome | null;
}
