import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';
import type { SignalSeverity, SignalType } from './signal-types.js';

/** What a capo filed: one per packet, by the constraint documents_once_per_packet. */
@Entity('documents')
export class DocumentEntity {
  @PrimaryColumn('text')
  documentId!: string;
  @Column('text')
  workspaceId!: string;
  @Column('text', { nullable: true })
  teamId!: string | null;
  @Column('text')
  directiveId!: string;
  @Column('text')
  workPacketId!: string;
  @Column('text')
  title!: string;
  @Column('text')
  body!: string;
  @Column('text')
  format!: 'markdown';
  @Column('timestamptz')
  createdAt!: number;
  /** A withdrawn document is listed no more; who has its id still reads it, since receipts name it. */
  @Column('timestamptz', { nullable: true })
  withdrawnAt!: number | null;
}

/** Money earned, or with a negative amount given back. Events are only ever added. */
@Entity('revenue_events')
export class RevenueEventEntity {
  @PrimaryColumn('text')
  eventId!: string;
  @Column('text')
  workspaceId!: string;
  /** The team that earned it, which sees it; null: none. */
  @Column('text', { nullable: true })
  teamId!: string | null;
  @Column('numeric', { precision: 18, scale: 4 })
  amount!: number;
  @Column('text')
  currency!: string;
  @Column('text')
  source!: string;
  @Column('text', { nullable: true })
  description!: string | null;
  @Column('timestamptz')
  occurredAt!: number;
  /** The name of the event where it comes from; unique in the workspace (revenue_events_external_id). */
  @Column('text', { nullable: true })
  externalId!: string | null;
  /** The work packet that recorded it, in a namespace of its own; unique (revenue_events_once_per_packet). */
  @Column('text', { nullable: true })
  workPacketId!: string | null;
  /** The event that this one takes back, once (revenue_events_reversed_once). */
  @Column('text', { nullable: true })
  reverses!: string | null;
  @Column('jsonb')
  recordedBy!: Actor;
  @Column('timestamptz')
  createdAt!: number;
}

/** What a signal is about. */
interface SignalSubject {
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
