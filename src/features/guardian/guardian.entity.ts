import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';
import type { GuardianMode } from '../terms/index.js';
import type { GuardianCheckpointOrder } from './guardian.dto.js';

/** What a checkpoint that is taken by itself comes before. */
export type TakenBefore = 'kill' | 'activation' | 'restore' | 'pack_install';

/** What a revert can go back to. */
export interface Snapshot {
  /** While killed or recovering: the mode before. */
  mode: GuardianMode;
  orders: GuardianCheckpointOrder[];
  /** The settings in the names of the wire. */
  settings: Record<string, unknown>;
}

/** Added by app.take_checkpoint, and never changed. */
@Entity('guardian_checkpoints')
export class CheckpointEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  checkpointId!: string;
  @Column('text', { nullable: true })
  label!: string | null;
  /** Null: somebody asked for it. */
  @Column('text', { nullable: true })
  takenBefore!: TakenBefore | null;
  @Column('jsonb')
  createdBy!: Actor;
  @Column('timestamptz')
  createdAt!: number;
  /** The head of the chain of receipts: what came behind it happened since. */
  @Column('bigint')
  receiptSeq!: number;
  @Column('text')
  receiptHash!: string;
  @Column('jsonb')
  snapshot!: Snapshot;
  /** SHA-256 of the canonical JSON of the record without it. */
  @Column('text')
  hash!: string;
}

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

export const REVERT_MODES = ['resume', 'restore', 'compensate'] as const;
/** How a revert goes back: only the mode, orders and settings too, or what was carried out too. */
export type RevertMode = (typeof REVERT_MODES)[number];

/** `running` until its last step has ended; `stopped`: another revert took its place after a second kill. */
type RevertStatus = 'running' | 'stopped' | 'done';

export type StepStatus = 'planned' | 'done' | 'failed' | 'not_possible' | 'skipped';

/** What undoes a work packet, from the registry of action types. */
interface UndoingAction {
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
