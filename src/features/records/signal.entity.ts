import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';
import type { SignalSeverity, SignalType } from './signal-types.js';

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
