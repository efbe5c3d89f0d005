import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor, Via } from '../../platform/auth/caller.js';
import type { CapoRole, Priority, Reversibility, Risk } from '../terms/terms.js';

export type ApprovalStatus =
  'pending' | 'approved' | 'rejected' | 'changes_requested' | 'expired' | 'cancelled';
export type ApprovalKind = 'output' | 'standing_order' | 'budget_override';

export interface Output {
  summary: string;
  format: 'markdown';
  body: string;
  contentHash: string;
  /** In the words of the runner, a model perhaps; null when it had nothing to add. */
  remarks: { engine: { name: string; model: string | null }; text: string } | null;
}

/** A work packet with its complete parameters, as the person who decides sees it. */
export interface ApprovalPacket {
  workPacketId: string;
  title: string;
  action: { type: string; target: string | null; params: Record<string, unknown> };
  reversibility: Reversibility;
  rationale: string;
  contentHash: string;
}

/** Why a person is asked. */
export interface ApprovalPolicy {
  outcome: string;
  explanation: string[];
}

@Entity('approvals')
export class ApprovalEntity {
  @PrimaryColumn('text')
  approvalId!: string;
  @Column('text')
  workspaceId!: string;
  @Column('text', { nullable: true })
  teamId!: string | null;
  @Column('text')
  directiveId!: string;
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
  @Column('text')
  reversibility!: Reversibility;
  @Column('jsonb', { nullable: true })
  output!: Output | null;
  @Column('jsonb')
  packets!: ApprovalPacket[];
  @Column('text', { nullable: true })
  contentHash!: string | null;
  @Column('jsonb', { nullable: true })
  policy!: ApprovalPolicy | null;
  @Column('jsonb')
  requestedBy!: Actor;
  /** Every member who may be the one that asked. */
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
  /** What was left until expiry when the kill switch froze it, in milliseconds; given back on revert. */
  @Column('bigint', { nullable: true })
  frozenMs!: number | null;
  @Column('text')
  onExpiry!: 'reject' | 'escalate';
  @Column('boolean')
  selfApproval!: boolean;
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
}

/** An approval as lists show it. */
export type ListedApproval = Omit<
  ApprovalEntity,
  'workspaceId' | 'output' | 'packets' | 'policy' | 'feedback'
>;
