import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { DeliveryStatus } from './report.entity.js';

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
