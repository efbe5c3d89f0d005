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

/** An export that was begun; one that was read to its end says what it held. */
@Entity('workspace_exports')
export class ExportEntity {
  @PrimaryColumn('text')
  exportId!: string;
  @Column('text')
  workspaceId!: string;
  @Column('jsonb')
  askedBy!: Actor;
  @Column('timestamptz')
  startedAt!: number;
  /** When its last byte was handed to the connection; null: it was not read to its end. */
  @Column('timestamptz', { nullable: true })
  completedAt!: number | null;
  /** Of all lines but the last, hex. */
  @Column('text', { nullable: true })
  sha256!: string | null;
  @Column('bigint', { nullable: true })
  lines!: number | null;
  @Column('bigint', { nullable: true })
  bytes!: number | null;
  @Column('bigint', { nullable: true })
  headSeq!: number | null;
  @Column('text', { nullable: true })
  headHash!: string | null;
}
