import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ReportFormat, ReportSections, WrittenSection } from './report.js';

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

export type DeliveryStatus = 'none' | 'waiting' | 'sending' | 'sent' | 'failed';
