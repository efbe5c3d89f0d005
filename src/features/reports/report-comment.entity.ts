import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';
import type { Id } from '../../platform/kernel/ids.js';
import type { CommentedPart } from './report-comments.dto.js';

/** What somebody said about a report; never changed. */
@Entity('report_comments')
export class ReportCommentEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  commentId!: Id<'cmt'>;
  @Column('text')
  reportId!: string;
  @Column('text', { nullable: true })
  teamId!: string | null;
  /** About the report of the whole workspace. */
  @Column('boolean')
  ofAll!: boolean;
  @Column('text', { nullable: true })
  sectionKey!: CommentedPart | null;
  @Column('text')
  body!: string;
  @Column('jsonb')
  createdBy!: Actor;
  @Column('timestamptz')
  createdAt!: number;
  @Column('text')
  receiptId!: string;
}
