import { Injectable } from '@nestjs/common';
import type { Statement } from '../../platform/database/batch.js';
import { Db } from '../../platform/database/db.js';
import {
  type DecidedPacket,
  type FormerUse,
  type KnownOrders,
  OrdersInForce,
  StandingOrderUses,
  type UsageOfOrder,
  Usages,
  decisionTimeStatement,
  isLimited,
  lockDecisionsStatement,
  mayConcern,
} from '../standing-orders/index.js';
import { type OperatorHours, Workspaces } from '../workspaces/index.js';
import type { GuardianEntity } from './guardian.entity.js';
import { Guardians } from './guardians.repository.js';
import { idOf, type Situation } from './policy-decision.js';

/** When a decision is made, by whose presence and zone, and which orders are in force. */
type MomentRows = [[{ at: number }], [OperatorHours], [{ epoch: number }]];

/** {@link MomentRows}, read in the open transaction, with the guardian locked. */
export interface Moment {
  at: number;
  operator: OperatorHours;
  epoch: number;
}

/** What a decision depends on besides the work packet and the guardian, with the workspace's decisions locked. */
export type LockedFacts = Omit<Situation, 'guardian'>;

/**
 * Reads what decisions depend on besides their work packets, each time in one round trip unless an order has changed. Their
 * time is the database's.
 */
@Injectable()
export class PolicyFacts {
  constructor(
    private readonly db: Db,
    private readonly uses: StandingOrderUses,
    private readonly inForce: OrdersInForce,
    private readonly guardians: Guardians,
    private readonly workspaces: Workspaces,
  ) {}

  /**
   * In the open transaction, with the workspace's decisions locked until it ends. With `sent`, also what this work packet has
   * used up by an earlier decision.
   */
  async lock(
    packets: readonly DecidedPacket[],
    sent?: string,
  ): Promise<{ facts: LockedFacts; former: FormerUse[] }> {
    const { unit } = this.db;
    const { workspaceId } = unit.scope;
    let known = this.inForce.known(workspaceId);
    const [, [{ at }], [operator], [{ epoch }], ...first] = (await unit.batch([
      lockDecisionsStatement(workspaceId),
      ...this.momentStatements(workspaceId),
      this.usageStatement(workspaceId, known, packets),
      ...(sent === undefined ? [] : [this.uses.formerUsesStatement(workspaceId, sent)]),
    ])) as [unknown, ...MomentRows, UsageOfOrder[], FormerUse[]?];
    const [, former = []] = first;
    let [usage] = first;
    if (known.epoch !== epoch) {
      known = await this.inForce.read(workspaceId);
      [usage] = (await unit.batch([this.usageStatement(workspaceId, known, packets)])) as [UsageOfOrder[]];
    }
    return { facts: { at, operator, known, usages: new Usages(usage) }, former };
  }

  async moment(): Promise<Moment> {
    const { unit } = this.db;
    const [[{ at }], [operator], [{ epoch }]] = (await unit.batch(
      this.momentStatements(unit.scope.workspaceId),
    )) as MomentRows;
    return { at, operator, epoch };
  }

  /** In the open transaction, for orders whose usage does not matter: those that deny. */
  async withoutUsage(guardian: GuardianEntity, { at, operator, epoch }: Moment): Promise<Situation> {
    const { workspaceId } = guardian;
    const before = this.inForce.known(workspaceId);
    const known = before.epoch === epoch ? before : await this.inForce.read(workspaceId);
    return { at, guardian, operator, known, usages: new Usages([]) };
  }

  /** For previews: nothing is locked, recorded or counted. */
  async look(
    workspaceId: string,
    packets: readonly DecidedPacket[],
  ): Promise<{ guardian: GuardianEntity; situation: Situation }> {
    // Orders of the whole workspace hold for every team.
    const scope = { workspaceId, teamIds: 'all' } as const;
    let known = this.inForce.known(workspaceId);
    const [[guardian], [{ at }], [operator], [{ epoch }], first] = (await this.db.readAll(scope, [
      this.guardians.readStatement(workspaceId),
      ...this.momentStatements(workspaceId),
      this.usageStatement(workspaceId, known, packets),
    ])) as [[GuardianEntity], ...MomentRows, UsageOfOrder[]];
    let usage = first;
    if (known.epoch !== epoch) {
      known = await this.db.transaction(scope, () => this.inForce.read(workspaceId));
      [, usage] = (await this.db.readAll(scope, [
        decisionTimeStatement(workspaceId),
        this.usageStatement(workspaceId, known, packets),
      ])) as [unknown, UsageOfOrder[]];
    }
    return { guardian, situation: { at, guardian, operator, known, usages: new Usages(usage) } };
  }

  private momentStatements(workspaceId: string): Statement[] {
    return [
      decisionTimeStatement(workspaceId),
      this.workspaces.operatorHoursStatement(workspaceId),
      this.inForce.epochStatement(workspaceId),
    ];
  }

  /** Of the orders with limits that may concern one of the packets. */
  private usageStatement(
    workspaceId: string,
    { orders }: KnownOrders,
    packets: readonly DecidedPacket[],
  ): Statement {
    const limited = orders.filter(
      (order) => isLimited(order) && packets.some((packet) => mayConcern(order, packet)),
    );
    return this.uses.usageStatement(workspaceId, limited.map(idOf));
  }
}
