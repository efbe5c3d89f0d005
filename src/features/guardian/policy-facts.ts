import { Injectable } from '@nestjs/common';
import type { Statement } from '../../platform/database/batch.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { type DecidedPacket, isLimited } from '../standing-orders/decision-input.js';
import { mayConcern } from '../standing-orders/evaluate.js';
import { type KnownOrders, OrdersInForce } from '../standing-orders/orders-in-force.repository.js';
import {
  lockDecisionsStatement,
  StandingOrderUses,
} from '../standing-orders/standing-order-uses.repository.js';
import { type FormerUse, type UsageOfOrder, Usages } from '../standing-orders/usages.js';
import { type OperatorHours, Workspaces } from '../workspaces/workspaces.repository.js';
import type { GuardianEntity } from './guardian.entity.js';
import { Guardians } from './guardians.repository.js';
import { idOf, type Situation } from './policy-decision.js';

/** Reads what decisions depend on besides their work packets, each time in one round trip unless an order has changed. */
@Injectable()
export class PolicyFacts {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
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
    guardian: GuardianEntity,
    sent?: string,
  ): Promise<{ situation: Situation; former: FormerUse[] }> {
    const at = this.clock.now();
    const { unit } = this.db;
    const { workspaceId } = unit.scope;
    const askFor = ({ orders }: KnownOrders) => {
      const concerned = concerning(orders, packets);
      const limited = concerned.filter(isLimited).map(idOf);
      return [
        this.uses.usageStatement(workspaceId, limited, at),
        ...(sent === undefined
          ? []
          : [this.uses.formerUsesStatement(workspaceId, concerned.map(idOf), sent, at)]),
      ];
    };
    let known = this.inForce.known(workspaceId);
    const [, [operator], [{ epoch }], ...first] = (await unit.batch([
      lockDecisionsStatement(workspaceId),
      this.workspaces.operatorHoursStatement(workspaceId),
      this.inForce.epochStatement(workspaceId),
      ...askFor(known),
    ])) as [unknown, [OperatorHours], [{ epoch: number }], UsageOfOrder[], FormerUse[]?];
    let [usage, former = []] = first;
    if (known.epoch !== epoch) {
      known = await this.inForce.read(workspaceId);
      [usage, former = []] = (await unit.batch(askFor(known))) as [UsageOfOrder[], FormerUse[]?];
    }
    return { situation: { at, guardian, operator, known, usages: new Usages(usage) }, former };
  }

  /** In the open transaction, for orders whose usage does not matter: those that deny. */
  async withoutUsage(guardian: GuardianEntity): Promise<Situation> {
    const { unit } = this.db;
    const { workspaceId } = unit.scope;
    const [[operator], [{ epoch }]] = (await unit.batch([
      this.workspaces.operatorHoursStatement(workspaceId),
      this.inForce.epochStatement(workspaceId),
    ])) as [[OperatorHours], [{ epoch: number }]];
    const before = this.inForce.known(workspaceId);
    const known = before.epoch === epoch ? before : await this.inForce.read(workspaceId);
    return { at: this.clock.now(), guardian, operator, known, usages: new Usages([]) };
  }

  /** For whoever only asks: nothing is locked, recorded or counted. */
  async look(
    workspaceId: string,
    packets: readonly DecidedPacket[],
  ): Promise<{ guardian: GuardianEntity; situation: Situation }> {
    // Orders of the whole workspace hold for every team.
    const scope = { workspaceId, teamIds: 'all' } as const;
    const at = this.clock.now();
    const askFor = ({ orders }: KnownOrders): Statement => {
      const limited = concerning(orders, packets).filter(isLimited);
      return this.uses.usageForLookStatement(workspaceId, limited.map(idOf), at);
    };
    let known = this.inForce.known(workspaceId);
    const [[guardian], [operator], [{ epoch }], first] = (await this.db.readAll(scope, [
      this.guardians.readStatement(workspaceId),
      this.workspaces.operatorHoursStatement(workspaceId),
      this.inForce.epochStatement(workspaceId),
      askFor(known),
    ])) as [[GuardianEntity], [OperatorHours], [{ epoch: number }], UsageOfOrder[]];
    let usage = first;
    if (known.epoch !== epoch) {
      known = await this.db.transaction(scope, () => this.inForce.read(workspaceId));
      [usage] = (await this.db.readAll(scope, [askFor(known)])) as [UsageOfOrder[]];
    }
    return { guardian, situation: { at, guardian, operator, known, usages: new Usages(usage) } };
  }
}

function concerning(orders: KnownOrders['orders'], packets: readonly DecidedPacket[]) {
  return orders.filter((order) => packets.some((packet) => mayConcern(order, packet)));
}
