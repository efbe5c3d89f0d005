import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';

/** A deletion that an owner asked for. Functions of the database alone write it (migrations/functions). */
@Entity('workspace_deletions')
export class DeletionEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @Column('jsonb')
  requestedBy!: Actor;
  @Column('timestamptz')
  requestedAt!: number;
  /** When the grace ends. */
  @Column('timestamptz')
  dueAt!: number;
  /** Whether the request engaged the kill switch, so that taking it back reverts that. */
  @Column('boolean')
  engagedKill!: boolean;
  /** When the owners were told that a day is left. */
  @Column('timestamptz', { nullable: true })
  warnedAt!: number | null;
  /** When the first rows were deleted; from then on it cannot be taken back. */
  @Column('timestamptz', { nullable: true })
  begunAt!: number | null;
  @Column('bigint')
  rowsDeleted!: number;
}
