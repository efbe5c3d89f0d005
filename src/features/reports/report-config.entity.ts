import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ReportFormat, SectionSwitches } from './report.js';

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
