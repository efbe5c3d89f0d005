import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';
import type { GuardianMode } from '../terms/terms.js';

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
  @Column('jsonb', { nullable: true })
  killedBy!: Actor | null;
  @Column('text', { nullable: true })
  reason!: string | null;
  @Column('text', { nullable: true })
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
  @Column('text', { nullable: true })
  reason!: string | null;
  @Column('jsonb')
  plan!: unknown[];
  @Column('jsonb')
  createdBy!: Actor;
  @Column('timestamptz')
  createdAt!: number;
}
