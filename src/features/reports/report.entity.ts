import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';
import type { Id } from '../../platform/kernel/ids.js';
import type { CapoRole } from '../terms/index.js';
import type { CommentedPart } from './report-comments.dto.js';
import type { ReportFormat, ReportSections, SectionSwitches, WrittenSection } from './report.js';

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

/** The report of one day; unique by workspace and day (reports_one_a_day). */
@Entity('reports')
export class ReportEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  reportId!: string;
  /** YYYY-MM-DD in the zone. */
  @Column('text')
  date!: string;
  @Column('text')
  zone!: string;
  /** The workspace's then. */
  @Column('text')
  currency!: string;
  @Column('text')
  format!: ReportFormat;
  /** on-demand: somebody asked for it, and the schedule has not come to its day; such a report is told to nobody. */
  @Column('text')
  trigger!: 'schedule' | 'on-demand';
  @Column('text')
  headline!: string;
  /** Those that were on. */
  @Column('jsonb')
  sections!: ReportSections;
  @Column('jsonb')
  customSections!: WrittenSection[];
  /** The receipts of the day; none where the last number is below the first. */
  @Column('bigint')
  fromSeq!: number;
  @Column('bigint')
  toSeq!: number;
  /** The last receipt of all as it was made. */
  @Column('bigint')
  headSeq!: number;
  @Column('text')
  headHash!: string;
  @Column('timestamptz')
  generatedAt!: number;
  /** Until when its custom sections may be written; null: it has none. */
  @Column('timestamptz', { nullable: true })
  sectionsUntil!: number | null;
  /** When subscribers were told of it; null: they were not, since nobody scheduled it or its sections are being written. */
  @Column('timestamptz', { nullable: true })
  announcedAt!: number | null;
  /** What became of its mails (report_mails) in sum. */
  @Column('text')
  deliveryChannel!: 'none' | 'email';
  @Column('text')
  deliveryStatus!: DeliveryStatus;
  @Column('timestamptz', { nullable: true })
  deliveryAt!: number | null;
}

type DeliveryStatus = 'none' | 'waiting' | 'sending' | 'sent' | 'failed';

/** The mail of a report to one of its recipients: a member, or an address. One for each (report_mails_one_each). */
@Entity('report_mails')
export class ReportMailEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  /** Names the Message-ID; another for each time that it is sent again. */
  @PrimaryColumn('text')
  mailId!: string;
  @Column('text')
  reportId!: string;
  @Column('text', { nullable: true })
  memberId!: string | null;
  /** Null for a member: theirs is looked up as it is sent. */
  @Column('text', { nullable: true })
  address!: string | null;
  /** none: it is not mailed, though nothing failed; `error` says why. */
  @Column('text')
  status!: DeliveryStatus;
  @Column('timestamptz', { nullable: true })
  at!: number | null;
  @Column('text', { nullable: true })
  error!: string | null;
  @Column('int')
  tries!: number;
}

/** A section that a workspace has added to its reports. */
@Entity('custom_report_sections')
export class CustomSectionEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  sectionId!: string;
  @Column('text')
  title!: string;
  /** What its capo is asked for each report. */
  @Column('text')
  directive!: string;
  @Column('text')
  capo!: CapoRole;
  @Column('boolean')
  includeInReport!: boolean;
  @Column('jsonb')
  createdBy!: Actor;
  @Column('timestamptz')
  createdAt!: number;
}

@Entity('report_configs')
export class ReportConfigEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  /** Those that somebody has set; the others are on. */
  @Column('jsonb')
  sections!: Partial<SectionSwitches>;
  @Column('text')
  format!: ReportFormat;
  @Column('text')
  schedule!: 'daily' | 'on-demand';
  /** HH:MM in the zone. */
  @Column('text')
  time!: string;
  /** Null: the workspace's. */
  @Column('text', { nullable: true })
  timezone!: string | null;
  @Column('boolean')
  email!: boolean;
  @Column('text', { nullable: true })
  emailAddress!: string | null;
  /** The members whom reports are mailed to, beside the address. */
  @Column('text', { array: true })
  memberIds!: string[];
  /** Invites whose people are recipients once they accept. */
  @Column('text', { array: true })
  inviteIds!: string[];
  /** The last day that the schedule has seen to; null until it is first looked at. */
  @Column('text', { nullable: true })
  lastDate!: string | null;
  /** When the schedule is looked at next. */
  @Column('timestamptz')
  dueAt!: number;
}
