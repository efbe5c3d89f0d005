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
