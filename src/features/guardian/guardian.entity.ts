import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';
import type { GuardianMode } from '../terms/index.js';

@Entity('guardians')
export class GuardianEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @Column('text')
  mode!: GuardianMode;
  @Column('text', { nullable: true })
  modeBeforeKill!: GuardianMode | null;
  /** Counts kills; a dispatch of an older epoch is void. */
  @Column('bigint')
  epoch!: number;
  @Column('timestamptz', { nullable: true })
  killedAt!: number | null;
  /** Since when the clocks of pending approvals stand still: as long as the mode is killed or recovering; a trigger keeps it. */
  @Column('timestamptz', { nullable: true })
  clocksStoppedAt!: number | null;
  @Column('jsonb', { nullable: true })
  killedBy!: Actor | null;
  @Column('text', { nullable: true })
  reason!: string | null;
  /** The checkpoint that the last kill took; null: it could take none. */
  @Column('text', { nullable: true })
  killCheckpointId!: string | null;
}
