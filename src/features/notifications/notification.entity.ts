import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { NotifyChoice, ReportChoice } from '../workspaces/index.js';
import type { Hours } from './notification-choice.js';

export type NotificationKind = 'approval' | 'escalation' | 'failure' | 'kill';
export type NotificationStatus = 'waiting' | 'sending' | 'sent' | 'skipped' | 'failed';

/** What one member is told of one revision of something, once. */
@Entity('notifications')
export class NotificationEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  notificationId!: string;
  @Column('text')
  memberId!: string;
  @Column('text')
  kind!: NotificationKind;
  @Column('text')
  entityId!: string;
  /** The content hash of an approval; of an escalation, which does not change, its id again; of a failure, a kill or its end the receipt. */
  @Column('text')
  revision!: string;
  @Column('text', { nullable: true })
  teamId!: string | null;
  @Column('boolean')
  urgent!: boolean;
  /** It waits, or was mailed, together with others. */
  @Column('boolean')
  inDigest!: boolean;
  @Column('text')
  status!: NotificationStatus;
  @Column('timestamptz')
  dueAt!: number;
  /** The mail that it stands in, from when that was put together. */
  @Column('text', { nullable: true })
  mailId!: string | null;
  /** How often its mail could not be handed to the mail server. */
  @Column('int')
  tries!: number;
  /** Why it was not mailed. */
  @Column('text', { nullable: true })
  reason!: string | null;
  @Column('timestamptz')
  createdAt!: number;
  @Column('timestamptz', { nullable: true })
  endedAt!: number | null;
}

/** What a member has chosen over the settings of the workspace; null: those hold. */
@Entity('notification_choices')
export class NotificationChoiceEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  memberId!: string;
  @Column('text', { nullable: true })
  approvals!: NotifyChoice | null;
  @Column('text', { nullable: true })
  escalations!: NotifyChoice | null;
  @Column('text', { nullable: true })
  reports!: ReportChoice | null;
  @Column('jsonb', { nullable: true })
  quietHours!: Hours | null;
  @Column('boolean')
  atAnyHour!: boolean;
}

/** A link by which one member decides one content of an approval, once. */
@Entity('decision_links')
export class DecisionLinkEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  linkId!: string;
  @Column('text')
  memberId!: string;
  @Column('text')
  approvalId!: string;
  @Column('text')
  contentHash!: string;
  /** The mail that it stands in, or the link whose page it stands on. */
  @Column('text')
  mailId!: string;
  @Column('timestamptz')
  createdAt!: number;
  @Column('timestamptz', { nullable: true })
  usedAt!: number | null;
  @Column('text', { nullable: true })
  decision!: 'approve' | 'answer' | 'reject' | 'revise' | 'edit' | null;
}
