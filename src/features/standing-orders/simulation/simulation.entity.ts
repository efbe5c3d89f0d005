import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Id } from '../../../platform/kernel/ids.js';
import type { Replayed, SimulatedChange } from './replay.js';

/** What one version of an order would have done to the decisions of the past. */
@Entity('simulations')
export class SimulationEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  simulationId!: Id<'sim'>;
  @Column('text')
  standingOrderId!: Id<'so'>;
  /** The team of the order. */
  @Column('text', { nullable: true })
  teamId!: string | null;
  @Column('int')
  version!: number;
  /** The last decision that it considered; empty: there was none yet. */
  @Column('text')
  untilDecisionId!: string;
  /** In which days, weeks and months began. */
  @Column('text')
  zone!: string;
  @Column('int')
  considered!: number;
  @Column('int')
  relaxed!: number;
  @Column('int')
  stillAsks!: number;
  @Column('int')
  escalated!: number;
  @Column('int')
  unchanged!: number;
  @Column('int')
  relaxedIrreversible!: number;
  /** The named ones, for all readers. */
  @Column('jsonb')
  changes!: SimulatedChange[];
  @Column('text')
  hash!: string;
  /** Why it would have changed nothing; null where it would, and in what older versions of the program kept. */
  @Column('text', { nullable: true })
  why!: string | null;
  /** The same numbers and changes, of the work packets alone that everybody sees who sees the order. */
  @Column('jsonb')
  own!: Replayed;
  @Column('timestamptz')
  computedAt!: number;
}
