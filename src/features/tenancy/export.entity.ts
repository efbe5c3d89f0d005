import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';

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
