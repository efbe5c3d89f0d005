import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';

export const SIGNAL_TYPES = [
  'revenue',
  'buyer',
  'confidence',
  'connector',
  'policy',
  'agent',
  'report',
  'partner',
] as const;
export type SignalType = (typeof SIGNAL_TYPES)[number];

export const SIGNAL_SEVERITIES = ['info', 'warning', 'critical'] as const;
export type SignalSeverity = (typeof SIGNAL_SEVERITIES)[number];

/** What a person has still to do with a signal: it follows from the columns and the time. */
export const SIGNAL_STATUSES = ['open', 'snoozed', 'acknowledged'] as const;
export type SignalStatus = (typeof SIGNAL_STATUSES)[number];

/** What a signal is about. */
export interface SignalSubject {
  type: string;
  id: string;
}

@Entity('signals')
export class SignalEntity {
  @PrimaryColumn('text')
  signalId!: string;
  @Column('text')
  workspaceId!: string;
  @Column('text', { nullable: true })
  teamId!: string | null;
  @Column('text')
  type!: SignalType;
  @Column('text')
  severity!: SignalSeverity;
  @Column('text')
  title!: string;
  @Column('text')
  body!: string;
  @Column('double precision', { nullable: true })
  score!: number | null;
  /** Who raised it. */
  @Column('jsonb')
  source!: Actor;
  @Column('text', { nullable: true })
  capo!: string | null;
  @Column('jsonb', { nullable: true })
  entity!: SignalSubject | null;
  @Column('timestamptz')
  createdAt!: number;
  @Column('timestamptz', { nullable: true })
  acknowledgedAt!: number | null;
  @Column('jsonb', { nullable: true })
  acknowledgedBy!: Actor | null;
  /** What was said with the last acknowledgement or snooze. */
  @Column('text', { nullable: true })
  note!: string | null;
  @Column('timestamptz', { nullable: true })
  snoozedUntil!: number | null;
  /** A withdrawn signal is shown nowhere; its receipts stay. */
  @Column('timestamptz', { nullable: true })
  withdrawnAt!: number | null;
}
