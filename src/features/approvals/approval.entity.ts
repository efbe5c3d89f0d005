import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor, Via } from '../../platform/auth/caller.js';
import type { NamedApprovers } from '../standing-orders/index.js';
import type { CapoRole, Priority, Reversibility, Risk } from '../terms/index.js';
import type { Concern } from '../capos/index.js';
import type { ApprovalOutput, ApprovalRevision, ApprovalWorkPacket } from './approval-content.dto.js';
import type { Answer, Question } from './question.js';

export const APPROVAL_STATUSES = [
  'pending',
  'approved',
  'rejected',
  'changes_requested',
  'expired',
  'cancelled',
] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];
export type ApprovalKind = 'output' | 'standing_order' | 'budget_override' | 'action' | 'question';

/**
 * A work packet, or the action that an agent from outside asks for, with its complete parameters, as the person who decides sees
 * it. Of an action request, `workPacketId` is its id.
 */
export interface ApprovalPacket extends ApprovalWorkPacket {
  reversibility: Reversibility;
}

/** The built-in runner of a capo, a model in its name, a person, or an agent from outside. */
export type Author = 'capo' | 'model' | 'person' | 'agent';

/** Why a person is asked. */
export interface ApprovalPolicy {
  outcome: string;
  explanation: string[];
  /** What an agent from outside asks to move, in words; left out where nobody knows. */
  amount?: string;
}

/** That one member has approved. */
export interface Vote {
  by: Actor;
  /** Unix milliseconds. */
  at: number;
  receiptId: string;
}

@Entity('approvals')
export class ApprovalEntity {
  @PrimaryColumn('text')
  approvalId!: string;
  @Column('text')
  workspaceId!: string;
  @Column('text', { nullable: true })
  teamId!: string | null;
  /** Null where an agent from outside asks. */
  @Column('text', { nullable: true })
  directiveId!: string | null;
  /** What an agent from outside asks for. */
  @Column('text', { nullable: true })
  actionRequestId!: string | null;
  @Column('text', { nullable: true })
  questionId!: string | null;
  /** What an agent from outside asks a person; `jsonb` would lose the order of its fields. */
  @Column('json', { nullable: true })
  question!: Question | null;
  /** Who asks it, and by which name; a trigger copies them from {@link question}, so that indexes have them. */
  @Column('text', { nullable: true, select: false })
  questionTokenId?: string | null;
  @Column('text', { nullable: true, select: false })
  questionAgent?: string | null;
  @Column('text', { nullable: true, select: false })
  questionExternalId?: string | null;
  /** Null until a person has answered the question. */
  @Column('jsonb', { nullable: true })
  answer!: Answer | null;
  @Column('text', { nullable: true })
  capo!: CapoRole | null;
  @Column('text')
  kind!: ApprovalKind;
  /** How many drafts of it were sent back before. */
  @Column('int')
  round!: number;
  @Column('text')
  status!: ApprovalStatus;
  /** False while the capo drafts. */
  @Column('boolean')
  ready!: boolean;
  @Column('text')
  title!: string;
  @Column('text')
  summary!: string;
  @Column('text')
  priority!: Priority;
  @Column('text')
  risk!: Risk;
  /** Why it is more dangerous than its work packets show. */
  @Column('jsonb')
  concerns!: Concern[];
  @Column('text')
  reversibility!: Reversibility;
  @Column('jsonb', { nullable: true })
  output!: ApprovalOutput | null;
  @Column('jsonb')
  packets!: ApprovalPacket[];
  /** How much a person has to supply before it can be approved. */
  @Column('int')
  inputsNeeded!: number;
  /** Each content that it had, oldest first: the draft, then what people made of it. */
  @Column('jsonb')
  revisions!: ApprovalRevision[];
  /** Every member who may have made the last edit; null while the content is that of the draft. */
  @Column('text', { array: true, nullable: true })
  lastEditedBy!: string[] | null;
  @Column('text', { nullable: true })
  contentHash!: string | null;
  /** Approvals with one key can be decided together; null until the draft is ready, and without work packets. */
  @Column('text', { nullable: true })
  groupKey!: string | null;
  @Column('jsonb', { nullable: true })
  policy!: ApprovalPolicy | null;
  @Column('jsonb')
  requestedBy!: Actor;
  /** Every member who may be the one that asked, or has edited it since. */
  @Column('text', { array: true })
  requesterIds!: string[];
  @Column('timestamptz')
  requestedAt!: number;
  /** Not after the deadline. */
  @Column('timestamptz')
  expiresAt!: number;
  /** That of its directive: what is approved later comes too late, kill or no kill. */
  @Column('timestamptz', { nullable: true })
  deadline!: number | null;
  /**
   * While a kill stops its clock, what was left until expiry then, in milliseconds; given back on revert. Reads compute it
   * (FROZEN_MS). It is stored only where the time of expiry came meanwhile, so that nobody looks for it each second.
   */
  @Column('bigint', { nullable: true, select: false })
  frozenMs!: number | null;
  @Column('text')
  onExpiry!: 'reject' | 'escalate';
  /** When a person is told that it is about to expire; null: nobody is, or has been already. */
  @Column('timestamptz', { nullable: true })
  escalatesAt!: number | null;
  /** The open escalation about its end. */
  @Column('text', { nullable: true })
  escalationId!: string | null;
  /** How often it was given more time. */
  @Column('int')
  extensions!: number;
  @Column('boolean')
  selfApproval!: boolean;
  /** How many people have to approve it. */
  @Column('int')
  quorum!: number;
  /** The orders that name approvers: a member may approve it if each of them names that member. */
  @Column('jsonb')
  approvers!: NamedApprovers[];
  /** Who has approved the present content, by member; an edit voids them. */
  @Column('jsonb')
  votes!: Record<string, Vote>;
  /** How many approvals are needed that nobody is left to give, as members were when that was last looked at. */
  @Column('int')
  missingApprovers!: number;
  @Column('timestamptz', { nullable: true })
  decidedAt!: number | null;
  @Column('jsonb', { nullable: true })
  decidedBy!: Actor | null;
  @Column('text', { nullable: true })
  decidedVia!: Via | null;
  @Column('text', { nullable: true })
  feedback!: string | null;
  @Column('text', { nullable: true })
  receiptId!: string | null;
  /** The approval of the draft that was asked for instead. */
  @Column('text', { nullable: true })
  nextApprovalId!: string | null;
}

/** An approval without what it was before. */
export type UnrevisedApproval = Omit<ApprovalEntity, 'revisions'>;

/** Of a directive's draft, and of nothing else. */
export type OfDirective<T extends UnrevisedApproval> = T & { directiveId: string };

/** An approval as lists show it. */
export type ListedApproval = Omit<
  ApprovalEntity,
  | 'workspaceId'
  | 'question'
  | 'answer'
  | 'output'
  | 'packets'
  | 'policy'
  | 'concerns'
  | 'revisions'
  | 'lastEditedBy'
  | 'escalatesAt'
  | 'escalationId'
  | 'extensions'
>;
