import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Statement } from '../../platform/database/batch.js';
import { Clock } from '../../platform/kernel/clock.js';
import { type DecidedPacket, isLimited } from '../standing-orders/decision-input.js';
import { mayConcern } from '../standing-orders/evaluate.js';
import { type KnownOrders, OrdersInForce, ordersFor } from '../standing-orders/orders-in-force.js';
import { StandingOrders } from '../standing-orders/standing-orders.repository.js';
import { type UsageOfOrder, Usages, usesOf } from '../standing-orders/usages.js';
import { type OperatorHours, Workspaces } from '../workspaces/workspaces.repository.js';
import type { GuardianEntity } from './guardian.entity.js';
import { Guardians } from './guardians.repository.js';
import { decideBy, type PolicyDecision } from './policy-gate.js';

export interface PreviewedPolicy {
  guardian: GuardianEntity;
  /** One for each work packet. */
  decisions: PolicyDecision[];
}

/**
 * What the gate would decide now. The decisions are its own, made by the same function from the same facts; but the facts
 * are read in a transaction that can only read, nothing is locked, and nothing is recorded or counted.
 */
@Injectable()
export class PolicyPreview {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly orders: StandingOrders,
    private readonly inForce: OrdersInForce,
    private readonly guardians: Guardians,
    private readonly workspaces: Workspaces,
  ) {}

  /** Decides `packets` in their order; what one uses up of a limit counts for the next. One round trip, unless an order has changed. */
  async of(workspaceId: string, packets: readonly DecidedPacket[]): Promise<PreviewedPolicy> {
    // Orders of the whole workspace hold for every team.
    const scope = { workspaceId, teamIds: 'all' } as const;
    const at = this.clock.now();
    let known = this.inForce.known(workspaceId);
    const [[guardian], [operator], [{ epoch }], first] = (await this.db.readAll(scope, [
      this.guardians.readStatement(workspaceId),
      this.workspaces.operatorHoursStatement(workspaceId),
      this.inForce.epochStatement(workspaceId),
      this.usageStatement(workspaceId, known, packets, at),
    ])) as [[GuardianEntity], [OperatorHours], [{ epoch: number }], UsageOfOrder[]];
    let usage = first;
    if (known.epoch !== epoch) {
      known = await this.db.transaction(scope, () => this.inForce.read(workspaceId));
      [usage] = (await this.db.readAll(scope, [this.usageStatement(workspaceId, known, packets, at)])) as [
        UsageOfOrder[],
      ];
    }
    const situation = { at, guardian, operator, known, usages: new Usages(usage) };
    const decisions = packets.map((packet) => {
      const decided = decideBy(ordersFor(known, packet.teamId, at), packet, situation);
      if (decided.decision.outcome === 'allow') {
        for (const use of usesOf(decided.counting, packet, at)) situation.usages.add(use);
      }
      return decided;
    });
    return { guardian, decisions };
  }

  private usageStatement(
    workspaceId: string,
    { orders }: KnownOrders,
    packets: readonly DecidedPacket[],
    at: number,
  ): Statement {
    const limited = orders.filter(
      (order) => isLimited(order) && packets.some((packet) => mayConcern(order, packet)),
    );
    return this.orders.usageForLookStatement(
      workspaceId,
      limited.map(({ standingOrderId }) => standingOrderId),
      at,
    );
  }
}
