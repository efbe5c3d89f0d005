import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { DecidedPacket, RecordedInput } from './decision-input.js';
import type { Decision } from './evaluate.js';
import type { Effect } from './standing-order.js';

/** One decision about a work packet, with what it depended on. */
@Entity('policy_decisions')
export class PolicyDecisionEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('timestamptz')
  at!: number;
  @PrimaryColumn('text')
  decisionId!: string;
  @Column('text')
  workPacketId!: string;
  @Column('text', { nullable: true })
  teamId!: string | null;
  @Column('text')
  outcome!: Effect;
  @Column('jsonb')
  decision!: Decision;
  @Column('jsonb')
  input!: RecordedInput;
  /** Whom or what the work packet reaches; for the same reason as the parameters. */
  @Column('text', { nullable: true })
  target!: string | null;
  /** All parameters of the work packet; a simulation may ask for one that no order asked for then. */
  @Column('jsonb')
  params!: DecidedPacket['params'];
}
