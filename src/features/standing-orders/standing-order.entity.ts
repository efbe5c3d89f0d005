import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Actor } from '../../platform/auth/caller.js';
import type { Id } from '../../platform/kernel/ids.js';
import type { CapoRole } from '../terms/index.js';
import type { DecidedPacket, RecordedInput } from './decision-input.js';
import type { Decision } from './evaluate.js';
import type { KeptSimulation } from './simulation/simulation.dto.js';
import type {
  Effect,
  OrderApproval,
  OrderBudget,
  OrderLimits,
  OrderMatch,
  OrderWhen,
  StandingOrderStatus,
} from './standing-order.js';

/** What an order says: the part that its versions keep. */
abstract class StandingOrderContent {
  @PrimaryColumn('text')
  standingOrderId!: Id<'so'>;
  @Column('text', { nullable: true })
  teamId!: Id<'team'> | null;
  @Column('text')
  name!: string;
  @Column('text')
  text!: string;
  @Column('text', { nullable: true, array: true })
  capos!: CapoRole[] | null;
  @Column('text')
  effect!: Effect;
  @Column('jsonb')
  match!: OrderMatch;
  @Column('jsonb', { nullable: true })
  when!: OrderWhen | null;
  @Column('jsonb', { nullable: true })
  limits!: OrderLimits | null;
  @Column('jsonb', { nullable: true })
  budget!: OrderBudget | null;
  @Column('jsonb', { nullable: true })
  approval!: OrderApproval | null;
  @Column('timestamptz', { nullable: true })
  expiresAt!: number | null;
  /** SHA-256 over the rule; decisions name it. */
  @Column('text')
  hash!: string;
  @Column('jsonb')
  createdBy!: Actor;
  @Column('timestamptz')
  createdAt!: number;
}

/** An order with its current version. */
@Entity('standing_orders')
export class StandingOrderEntity extends StandingOrderContent {
  @Column('text')
  workspaceId!: string;
  @Column('text')
  status!: StandingOrderStatus;
  @Column('int')
  version!: number;
  /** Why a new order did not become active. */
  @Column('text', { nullable: true })
  heldBecause!: string | null;
  /** What the newest simulation of its version came to; of another version it says nothing. */
  @Column('jsonb', { nullable: true })
  simulation!: KeptSimulation | null;
  /** The safety eval that its last activation went by. */
  @Column('text', { nullable: true })
  evalRunId!: string | null;
  @Column('timestamptz')
  updatedAt!: number;
  @Column('timestamptz', { nullable: true })
  activatedAt!: number | null;
}

/** One version of an order; never changed. `createdBy` and `createdAt` are those of the version. */
@Entity('standing_order_versions')
export class StandingOrderVersionEntity extends StandingOrderContent {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('int')
  version!: number;
}

/** One row for each work packet that an order let through and that is on its way, has left, or may have. */
@Entity('standing_order_uses')
export class StandingOrderUseEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  standingOrderId!: string;
  @PrimaryColumn('text')
  workPacketId!: string;
  @Column('timestamptz')
  at!: number;
  /** The money the work packet carries, without its sign. */
  @Column('numeric', { precision: 18, scale: 4 })
  amount!: number;
  @Column('text', { nullable: true })
  currency!: string | null;
  /** Read by no version any more; earlier ones write it. */
  @Column('numeric', { precision: 18, scale: 4 })
  spent!: number;
}

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
