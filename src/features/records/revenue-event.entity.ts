import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';

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
