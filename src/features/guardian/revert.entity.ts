import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';

export const REVERT_MODES = ['resume', 'restore', 'compensate'] as const;
/** How a revert goes back: only the mode, orders and settings too, or what was carried out too. */
export type RevertMode = (typeof REVERT_MODES)[number];

/** `running` until its last step has ended; `stopped`: another revert took its place after a second kill. */
export type RevertStatus = 'running' | 'stopped' | 'done';

export type StepStatus = 'planned' | 'done' | 'failed' | 'not_possible' | 'skipped';

/** What undoes a work packet, from the registry of action types. */
export interface UndoingAction {
  type: string;
  params: Record<string, unknown>;
}

@Entity('reverts')
export class RevertEntity {
  @PrimaryColumn('text')
  revertId!: string;
  @Column('text')
  workspaceId!: string;
  @Column('text')
  mode!: RevertMode;
  @Column('text')
  status!: RevertStatus;
  @Column('text', { nullable: true })
  reason!: string | null;
  @Column('text', { nullable: true })
  checkpointId!: string | null;
  /** With `resume`: what goes on. What is undone stands in {@link RevertStepEntity}. */
  @Column('jsonb')
  plan!: unknown[];
  @Column('jsonb')
  createdBy!: Actor;
  @Column('timestamptz')
  createdAt!: number;
  /** When the kill came that it lifts once everything is undone. */
  @Column('timestamptz', { nullable: true })
  killedAt!: number | null;
  /** The kill that it lifts; null: there was none. */
  @Column('bigint', { nullable: true })
  guardianEpoch!: number | null;
  @Column('text', { nullable: true })
  receiptId!: string | null;
  @Column('timestamptz', { nullable: true })
  endedAt!: number | null;
}

/** One work packet that a revert undoes. */
@Entity('revert_steps')
export class RevertStepEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  revertId!: string;
  /** 1 is the newest, and the first to be undone. */
  @PrimaryColumn('int')
  position!: number;
  @Column('text')
  workPacketId!: string;
  @Column('text', { nullable: true })
  teamId!: string | null;
  @Column('text')
  reversibility!: string;
  @Column('jsonb', { nullable: true })
  compensation!: UndoingAction | null;
  @Column('text')
  status!: StepStatus;
  /** Why it was not undone, or why the last attempt failed. */
  @Column('text', { nullable: true })
  reason!: string | null;
  @Column('jsonb', { nullable: true })
  result!: Record<string, unknown> | null;
  @Column('int')
  attempts!: number;
  /** Set while something outside may be under way. */
  @Column('timestamptz', { nullable: true })
  begunAt!: number | null;
  @Column('timestamptz', { nullable: true })
  endedAt!: number | null;
  @Column('text', { nullable: true })
  receiptId!: string | null;
}
