import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';
import type { GuardianMode } from '../terms/terms.js';

@Entity('guardians')
export class GuardianEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @Column('text')
  mode!: GuardianMode;
  @Column('text')
  modeBeforeKill!: GuardianMode | null;
  /** Counts kills; a dispatch of an older epoch is void. */
  @Column('bigint')
  epoch!: number;
  @Column('timestamptz')
  killedAt!: number | null;
  @Column('jsonb')
  killedBy!: Actor | null;
  @Column('text')
  reason!: string | null;
  @Column('text')
  lastCheckpointId!: string | null;
}

@Entity('reverts')
export class RevertEntity {
  @PrimaryColumn('text')
  revertId!: string;
  @Column('text')
  workspaceId!: string;
  @Column('text')
  mode!: 'resume';
  @Column('text')
  reason!: string | null;
  @Column('jsonb')
  plan!: unknown[];
  @Column('jsonb')
  createdBy!: Actor;
  @Column('timestamptz')
  createdAt!: number;
}
