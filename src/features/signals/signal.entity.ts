import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';

export type SignalType =
  'revenue' | 'buyer' | 'confidence' | 'connector' | 'policy' | 'agent' | 'report' | 'partner';

export type SignalSeverity = 'info' | 'warning' | 'critical';

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
  @Column('text')
  teamId!: string | null;
  @Column('text')
  type!: SignalType;
  @Column('text')
  severity!: SignalSeverity;
  @Column('text')
  title!: string;
  @Column('text')
  body!: string;
  @Column('double precision')
  score!: number | null;
  /** Who raised it. */
  @Column('jsonb')
  source!: Actor;
  @Column('text')
  capo!: string | null;
  @Column('jsonb')
  entity!: SignalSubject | null;
  @Column('timestamptz')
  createdAt!: number;
  @Column('timestamptz')
  acknowledgedAt!: number | null;
  @Column('jsonb')
  acknowledgedBy!: Actor | null;
  /** What was said with the last acknowledgement or snooze. */
  @Column('text')
  note!: string | null;
  @Column('timestamptz')
  snoozedUntil!: number | null;
  /** A withdrawn signal is shown nowhere; its receipts stay. */
  @Column('timestamptz')
  withdrawnAt!: number | null;
}
