import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';
import type { ApprovalOutput } from '../approvals/index.js';
import type { FeedbackRound } from '../capos/index.js';
import type { CapoRole, Cost, DirectiveStatus, Priority } from '../terms/index.js';
import type { DirectiveChange } from './directives.dto.js';

export interface Routing {
  candidates: { capo: CapoRole; score: number; why: string[] }[];
  reason: string;
}

@Entity('directives')
export class DirectiveEntity {
  @PrimaryColumn('text')
  directiveId!: string;
  @Column('text')
  workspaceId!: string;
  @Column('text', { nullable: true })
  teamId!: string | null;
  @Column('text')
  text!: string;
  /** Null until the consigliere has routed it. */
  @Column('text', { nullable: true })
  capo!: CapoRole | null;
  @Column('text')
  routedBy!: 'operator' | 'consigliere';
  @Column('jsonb', { nullable: true })
  routing!: Routing | null;
  @Column('text')
  priority!: Priority;
  @Column('boolean')
  requiresApproval!: boolean;
  @Column('jsonb')
  context!: Record<string, unknown>;
  @Column('timestamptz', { nullable: true })
  deadline!: number | null;
  @Column('text')
  status!: DirectiveStatus;
  /** The status that a kill interrupted. */
  @Column('text', { nullable: true })
  haltedFrom!: DirectiveStatus | null;
  @Column('text', { nullable: true })
  approvalId!: string | null;
  @Column('jsonb')
  workPacketIds!: string[];
  @Column('jsonb', { nullable: true })
  output!: ApprovalOutput | null;
  @Column('jsonb', { nullable: true })
  engine!: { name: string; model: string | null } | null;
  @Column('jsonb')
  cost!: Cost;
  @Column('jsonb', { nullable: true })
  error!: { code: string; message: string; nextStep?: string } | null;
  /** What reviewers asked to be changed, with the drafts they saw. */
  @Column('jsonb')
  feedback!: FeedbackRound[];
  @Column('jsonb')
  history!: DirectiveChange[];
  @Column('jsonb')
  createdBy!: Actor;
  /** Who asked first, through however many delegations; null: who created it. */
  @Column('jsonb', { nullable: true })
  requestedBy!: Actor | null;
  /** Every member who may be the one that asked; none of them can be the second pair of eyes. */
  @Column('text', { array: true })
  requesterIds!: string[];
  /** The escalation that stands for this failure and others of one outage. */
  @Column('text', { nullable: true })
  escalationId!: string | null;
  /** The schedule that it is a run of. */
  @Column('text', { nullable: true })
  scheduleId!: string | null;
  /** The due time of that run; null: a person ran the schedule. */
  @Column('timestamptz', { nullable: true })
  scheduledFor!: number | null;
  @Column('timestamptz')
  createdAt!: number;
  @Column('timestamptz', { nullable: true })
  startedAt!: number | null;
  @Column('timestamptz', { nullable: true })
  executedAt!: number | null;
  /** Of the hand-in, if it was traced. */
  @Column('text', { nullable: true })
  traceparent!: string | null;
}
