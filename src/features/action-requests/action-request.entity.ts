import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';
import type { Reversibility, Risk } from '../terms/index.js';

export const ACTION_REQUEST_STATUSES = [
  'pending',
  'allowed',
  'approved',
  'denied',
  'rejected',
  'expired',
  'cancelled',
  'consumed',
  'completed',
  'failed',
  'unconfirmed',
] as const;
export type ActionRequestStatus = (typeof ACTION_REQUEST_STATUSES)[number];

/** Who decided, and what. */
export interface ActionDecision {
  outcome: 'allowed' | 'approved' | 'denied' | 'rejected';
  decidedBy: Actor;
  /** Unix milliseconds. */
  decidedAt: number;
  /** As they may be used: those that were asked for, or what a person made of them. */
  params: Record<string, unknown>;
  feedback: string | null;
}

/** What came of it, as the agent says, or a person who looked. */
export interface ActionResult {
  outcome: 'succeeded' | 'failed';
  summary: string;
  output: Record<string, unknown> | null;
  /** Unix milliseconds. */
  at: number;
  /** The person; left out where the agent has said it. */
  foundBy?: Actor;
}

/** What an agent from outside asks to do once (CONTRACT section 7). */
@Entity('action_requests')
export class ActionRequestEntity {
  @PrimaryColumn('text')
  actionRequestId!: string;
  @Column('text')
  workspaceId!: string;
  @Column('text', { nullable: true })
  teamId!: string | null;
  /** The first token of the rotations of the one that asked: no other may consume it. */
  @Column('text')
  tokenRootId!: string;
  /** The member whose rights the token carries. */
  @Column('text')
  memberId!: string;
  /** Every member who may be the one behind the token, and those who edited the parameters. */
  @Column('text', { array: true })
  requesterIds!: string[];
  /** Who asks: the agent, or the member whose own token it is. */
  @Column('jsonb')
  requestedBy!: Actor;
  /** As the token names it; null for a member's own token. */
  @Column('text', { nullable: true })
  agent!: string | null;
  @Column('text')
  tool!: string;
  /** As they were asked for. */
  @Column('jsonb')
  params!: Record<string, unknown>;
  /** SHA-256 of RFC 8785 `{ tool, params }`, of the parameters as decided. */
  @Column('text')
  paramsHash!: string;
  /** In the agent's own words. */
  @Column('text', { nullable: true })
  reason!: string | null;
  @Column('jsonb', { nullable: true })
  run!: { id: string; framework: string | null } | null;
  @Column('text', { nullable: true })
  externalId!: string | null;
  /** Of the whole request, to tell the same one sent again from another. */
  @Column('text')
  requestHash!: string;
  @Column('text')
  title!: string;
  /** Of the tool when it was decided; null: it was not registered and active. */
  @Column('text', { nullable: true })
  fingerprint!: string | null;
  @Column('text')
  audience!: string;
  @Column('text')
  risk!: Risk;
  @Column('text')
  reversibility!: Reversibility;
  @Column('text')
  status!: ActionRequestStatus;
  @Column('text', { nullable: true })
  approvalId!: string | null;
  /** While it is paced: when it is decided again. */
  @Column('timestamptz', { nullable: true })
  retryAt!: number | null;
  @Column('jsonb')
  policy!: { outcome: string; explanation: string[]; amount?: string };
  @Column('jsonb', { nullable: true })
  decision!: ActionDecision | null;
  /** Whether the person who approved it was also the one behind the request. */
  @Column('boolean')
  byRequester!: boolean;
  @Column('timestamptz')
  expiresAt!: number;
  @Column('int')
  consumeInSeconds!: number;
  @Column('int')
  completeInSeconds!: number;
  @Column('timestamptz', { nullable: true })
  consumeBy!: number | null;
  /** Which of the agent's tries consumed it. */
  @Column('text', { nullable: true })
  attempt!: string | null;
  @Column('timestamptz', { nullable: true })
  consumedAt!: number | null;
  /** The guardian's when it was consumed. */
  @Column('int', { nullable: true })
  guardianEpoch!: number | null;
  @Column('timestamptz', { nullable: true })
  actBy!: number | null;
  @Column('timestamptz', { nullable: true })
  completeBy!: number | null;
  @Column('jsonb', { nullable: true })
  result!: ActionResult | null;
  /** Why it ended, where nobody decided that. */
  @Column('text', { nullable: true })
  endedBecause!: string | null;
  /** When something becomes of it without the agent; null: never. */
  @Column('timestamptz', { nullable: true })
  dueAt!: number | null;
  @Column('timestamptz')
  createdAt!: number;
  @Column('text')
  receiptId!: string;
}
