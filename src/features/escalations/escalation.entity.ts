import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';
import type { EscalationKind, EscalationStatus } from './escalation-kinds.js';

@Entity('escalations')
export class EscalationEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  escalationId!: string;
  @Column('text', { nullable: true })
  teamId!: string | null;
  @Column('text')
  kind!: EscalationKind;
  @Column('text')
  status!: EscalationStatus;
  /** What it is about; at most one of a kind is open about the same. */
  @Column('text')
  entityType!: string;
  @Column('text')
  entityId!: string;
  @Column('text', { nullable: true })
  directiveId!: string | null;
  /** For a person, in a sentence or two. */
  @Column('text')
  reason!: string;
  @Column('text', { array: true })
  options!: string[];
  /** How many it stands for: of an outage, one escalation stands for many. */
  @Column('int')
  count!: number;
  /** When it ends by itself, or becomes worse. */
  @Column('timestamptz', { nullable: true })
  dueAt!: number | null;
  @Column('timestamptz')
  createdAt!: number;
  @Column('timestamptz', { nullable: true })
  decidedAt!: number | null;
  @Column('jsonb', { nullable: true })
  decidedBy!: Actor | null;
  /** The option that was chosen; null while it is open, and when its cause went away. */
  @Column('text', { nullable: true })
  decision!: string | null;
  @Column('text', { nullable: true })
  note!: string | null;
  /** What came of it, for a person. */
  @Column('text', { nullable: true })
  outcome!: string | null;
}
