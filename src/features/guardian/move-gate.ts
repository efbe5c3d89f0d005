import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { type DecisionInput, type DecisionMove, storable } from '../standing-orders/decision-input.js';
import { type Decision, evaluate } from '../standing-orders/evaluate.js';
import { type OrderWithUsage, StandingOrders } from '../standing-orders/standing-orders.repository.js';
import type { GuardianEntity } from './guardian.entity.js';

/** A decision with everything it depended on, so that it can be computed again. */
export interface Gated {
  decision: Decision;
  input: DecisionInput;
}

export interface GateSituation {
  guardian: GuardianEntity;
  presence: 'present' | 'away';
  /** IANA zone in which days, weeks and months of limits and budgets begin. */
  timezone: string;
}

/** Where the guardian decides whether a move may go out: standing orders, limits, budgets and its mode. */
@Injectable()
export class MoveGate {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly orders: StandingOrders,
  ) {}

  /**
   * Decides `moves` in their order, within the open transaction; what one move uses up of a limit counts for the
   * next. Decisions of one workspace wait for each other, so two of them cannot share the last place of a limit.
   */
  async decide(moves: readonly DecisionMove[], { guardian, presence, timezone }: GateSituation): Promise<Gated[]> {
    const at = this.clock.now();
    const orders = await this.orders.activeWithUsage(this.db.unit.scope.workspaceId, timezone, at);
    return moves.map((move) => {
      const input = storable({
        at,
        presence,
        guardian: { mode: guardian.mode, epoch: guardian.epoch },
        move,
        orders: orders.map(({ usage: _usage, ...order }) => order),
        usage: Object.fromEntries(orders.map((order) => [order.standingOrderId, order.usage])),
      });
      const decision = evaluate(input);
      if (decision.outcome === 'allow') this.count(decision, move, orders, at);
      return { decision, input };
    });
  }

  private count(decision: Decision, move: DecisionMove, orders: readonly OrderWithUsage[], at: number): void {
    for (const { standingOrderId } of decision.matched) {
      const order = orders.find((candidate) => candidate.standingOrderId === standingOrderId)!;
      const amount = move.amount ?? 0;
      const spent = order.budget?.currency === move.currency ? amount : 0;
      this.orders.recordUse(order.standingOrderId, move.workPacketId!, at, amount, spent);
      order.usage.lastHour++;
      order.usage.lastDay++;
      order.usage.amountToday += amount;
      order.usage.budgetSpent += spent;
    }
  }
}
