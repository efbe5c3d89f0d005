import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';

export const APPROVAL_EXPIRING = 'approval_expiring';
export const APPROVAL_EXPIRED = 'approval_expired';
export const PACKET_FAILED = 'packet_failed';
export const BUDGET_EXCEEDED = 'budget_exceeded';
export const CONNECTOR_RED = 'connector_red';
export const COMPENSATION_FAILED = 'compensation_failed';
export const KILL_UNCONFIRMED = 'kill_unconfirmed';
export const ACTION_UNCONFIRMED = 'action_unconfirmed';
export const SCHEDULE_PAUSED = 'schedule_paused';
export const APPROVERS_MISSING = 'approvers_missing';

/** Why a person has to decide (CONTRACT, Escalation). */
export const ESCALATION_KINDS = [
  APPROVAL_EXPIRING,
  APPROVAL_EXPIRED,
  PACKET_FAILED,
  BUDGET_EXCEEDED,
  CONNECTOR_RED,
  COMPENSATION_FAILED,
  KILL_UNCONFIRMED,
  ACTION_UNCONFIRMED,
  SCHEDULE_PAUSED,
  APPROVERS_MISSING,
] as const;
export type EscalationKind = (typeof ESCALATION_KINDS)[number];

export const ESCALATION_STATUSES = ['open', 'resolved', 'dismissed'] as const;
export type EscalationStatus = (typeof ESCALATION_STATUSES)[number];

/** What a person may choose; each kind offers some of these. */
export const APPROVE_ONCE = 'approve_once';
export const ARRIVED = 'arrived';
export const CHECK = 'check';
export const DID_NOT_ARRIVE = 'did_not_arrive';
export const DONE_BY_HAND = 'done_by_hand';
export const EXTEND = 'extend';
export const HAND_IN_AGAIN = 'hand_in_again';
export const REJECT = 'reject';
export const RESUME = 'resume';
export const RETRY = 'retry';
export const SEND_AGAIN = 'send_again';
/** Offered by every kind: a person has seen it, and nothing is done. */
export const DISMISS = 'dismiss';

@Entity('escalations')
export class EscalationEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  escalationId!: string;
  @Column('text', { nullable: true })
  teamId!: string | null;
  @Column('text')
  kind!: EscalationKind;
  @Column('text')
  status!: EscalationStatus;
  /** What it is about; at most one of a kind is open about the same. */
  @Column('text')
  entityType!: string;
  @Column('text')
  entityId!: string;
  @Column('text', { nullable: true })
  directiveId!: string | null;
  /** For a person, in a sentence or two. */
  @Column('text')
  reason!: string;
  @Column('text', { array: true })
  options!: string[];
  /** How many it stands for: of an outage, one escalation stands for many. */
  @Column('int')
  count!: number;
  /** When it ends by itself, or becomes worse. */
  @Column('timestamptz', { nullable: true })
  dueAt!: number | null;
  @Column('timestamptz')
  createdAt!: number;
  @Column('timestamptz', { nullable: true })
  decidedAt!: number | null;
  @Column('jsonb', { nullable: true })
  decidedBy!: Actor | null;
  /** The option that was chosen; null while it is open, and when its cause went away. */
  @Column('text', { nullable: true })
  decision!: string | null;
  @Column('text', { nullable: true })
  note!: string | null;
  /** What came of it, for a person. */
  @Column('text', { nullable: true })
  outcome!: string | null;
}
