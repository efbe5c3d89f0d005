import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';

export const SUGGESTION_DECISIONS = ['dismissed', 'accepted'] as const;
export type SuggestionDecision = (typeof SUGGESTION_DECISIONS)[number];

/** That somebody does not want a suggestion, or has made an order of it; it is not made again. */
@Entity('suggestion_decisions')
export class SuggestionDecisionEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  suggestionId!: string;
  /** The team that it was made for. */
  @Column('text', { nullable: true })
  teamId!: string | null;
  @Column('text')
  decision!: SuggestionDecision;
  @Column('text', { nullable: true })
  standingOrderId!: string | null;
  @Column('jsonb')
  decidedBy!: Actor;
  @Column('timestamptz')
  decidedAt!: number;
}
