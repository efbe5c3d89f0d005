import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';
import type { Id } from '../../platform/kernel/ids.js';
import type { EvalKind, Finding } from './rule.js';

export const EVAL_TARGETS = ['standing_order', 'workflow_candidate', 'skill'] as const;
export type EvalTarget = (typeof EVAL_TARGETS)[number];

/** Whether somebody asked for the run, an order was to become active, or a skill arrived with a pack. */
export type EvalOccasion = 'request' | 'activation' | 'install';

@Entity('eval_runs')
export class EvalRunEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  evalRunId!: Id<'evl'>;
  @Column('text', { nullable: true })
  teamId!: string | null;
  @Column('text')
  name!: string;
  @Column('text')
  kind!: EvalKind;
  @Column('text')
  targetEntityType!: EvalTarget;
  @Column('text')
  targetEntityId!: string;
  @Column('int', { nullable: true })
  targetVersion!: number | null;
  @Column('text')
  occasion!: EvalOccasion;
  @Column('text')
  status!: 'completed' | 'error';
  @Column('double precision')
  score!: number;
  @Column('double precision')
  threshold!: number;
  @Column('boolean')
  passed!: boolean;
  @Column('jsonb')
  findings!: Finding[];
  @Column('int')
  findingsOmitted!: number;
  @Column('double precision')
  durationMs!: number;
  @Column('jsonb')
  createdBy!: Actor;
  @Column('timestamptz')
  createdAt!: number;
  @Column('text')
  receiptId!: string;
}
