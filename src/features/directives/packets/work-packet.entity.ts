import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Compensation, Engine, NeededInput, PacketKind } from '../../capos/index.js';
import type { Decision } from '../../standing-orders/index.js';
import type { Envelope, Outcome, RecipientOutcome } from './packet-effect.js';
import type { AllowedBy } from '../../guardian/index.js';
import type { CapoRole, Reversibility } from '../../terms/index.js';

export const PACKET_STATUSES = [
  'drafted',
  'awaiting_approval',
  'queued',
  'sending',
  'executed',
  'failed',
  'denied',
  'cancelled',
  'halted',
  'reverted',
] as const;
export type PacketStatus = (typeof PACKET_STATUSES)[number];

/** What the execution answered, or why it failed. */
export interface PacketResult {
  [key: string]: unknown;
  error?: { code: string; message: string };
  /** Of a mail, how it stands for each recipient. */
  recipients?: RecipientOutcome[];
  /** How often the other side could not take it, which is tried again. */
  tries?: number;
}

@Entity('work_packets')
export class WorkPacketEntity {
  @PrimaryColumn('text')
  workPacketId!: string;
  @Column('text')
  workspaceId!: string;
  @Column('text', { nullable: true })
  teamId!: string | null;
  @Column('text')
  directiveId!: string;
  /** Its position among the work packets of one draft. */
  @Column('int')
  position!: number;
  @Column('text')
  capo!: CapoRole;
  @Column('text')
  engine!: Engine;
  @Column('text')
  title!: string;
  @Column('text')
  kind!: PacketKind;
  @Column('text')
  actionType!: string;
  @Column('text', { nullable: true })
  target!: string | null;
  @Column('jsonb')
  params!: Record<string, unknown>;
  /** What a person has to supply before it may be approved. */
  @Column('jsonb')
  needsInput!: NeededInput[];
  @Column('text')
  reversibility!: Reversibility;
  @Column('jsonb', { nullable: true })
  compensation!: Compensation | null;
  @Column('text')
  status!: PacketStatus;
  @Column('jsonb', { nullable: true })
  decision!: Decision | null;
  /** The content that a person or a standing order allowed; only this content is sent. */
  @Column('text', { nullable: true })
  allowedHash!: string | null;
  /** Who let it go: the standing orders alone, or a person, who may have asked for it. */
  @Column('text', { nullable: true })
  allowedBy!: AllowedBy | null;
  @Column('double precision')
  leverageScore!: number;
  @Column('jsonb')
  multipliers!: Record<string, number>;
  @Column('text')
  rationale!: string;
  @Column('jsonb')
  cost!: { amount: number; currency: string };
  @Column('jsonb', { nullable: true })
  result!: PacketResult | null;
  @Column('text', { nullable: true })
  receiptId!: string | null;
  @Column('timestamptz')
  createdAt!: number;
  @Column('timestamptz', { nullable: true })
  executedAt!: number | null;
  /** Since when an attempt is under way; null while a mail that some have waits to be sent to the others. */
  @Column('timestamptz', { nullable: true })
  sendingSince!: number | null;
  /** When it was last handed out: the guardian's epoch, and the number of the last receipt of the workspace. */
  @Column('bigint', { nullable: true })
  beganEpoch!: number | null;
  @Column('bigint', { nullable: true })
  beganSeq!: number | null;
  /** Until when standing orders delay it, and which; null: they do not. */
  @Column('timestamptz', { nullable: true })
  throttledUntil!: number | null;
  @Column('text', { nullable: true, array: true })
  throttledBy!: string[] | null;
  /** How often it was handed out. */
  @Column('int')
  attempts!: number;
  /** What is put around what is posted; written when it is first sent. Null where nothing is. */
  @Column('jsonb', { nullable: true })
  envelope!: Envelope | null;
}

/** That an attempt at something outside began, or what came of it. Rows are added, and never changed. */
@Entity('outside_attempts')
export class OutsideAttemptEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  workPacketId!: string;
  /** The revert whose undo it is; empty where the work packet itself is carried out. */
  @PrimaryColumn('text')
  revertId!: string;
  @PrimaryColumn('int')
  attempt!: number;
  @PrimaryColumn('text')
  event!: 'begun' | 'ended';
  /** By the database's clock. */
  @Column('timestamptz')
  at!: number;
  @Column('jsonb', { nullable: true })
  outcome!: Outcome | null;
}
