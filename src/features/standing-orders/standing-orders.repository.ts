import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { DecisionOrder, OrderUsage } from './decision-input.js';
import { StandingOrderUseEntity } from './standing-order.entity.js';

export interface OrderWithUsage extends DecisionOrder {
  usage: OrderUsage;
}

const ACTIVE_WITH_USAGE = /* sql */ `
select o.standing_order_id, o.version, o.hash, o.name, o.status, o.team_id, o.capos, o.effect, o.match, o."when",
  o.limits, o.budget, o.approval, o.expires_at,
  json_build_object('lastHour', u.last_hour, 'lastDay', u.last_day, 'amountToday', u.amount_today,
    'budgetSpent', u.budget_spent) as usage
from standing_orders o
cross join lateral (
  select count(*) filter (where s.at > $3::timestamptz - interval '1 hour') as last_hour,
    count(*) filter (where s.at > $3::timestamptz - interval '1 day') as last_day,
    coalesce(sum(s.amount) filter (where s.at >= date_trunc('day', $3::timestamptz, $2)), 0) as amount_today,
    coalesce(sum(s.cost) filter (where s.at >= date_trunc(coalesce(o.budget->>'window', 'day'), $3::timestamptz, $2)), 0)
      as budget_spent
  from standing_order_uses s
  where s.workspace_id = o.workspace_id and s.standing_order_id = o.standing_order_id
    and s.at > $3::timestamptz - interval '32 days'
) u
where o.workspace_id = $1 and o.status = 'active' and (o.expires_at is null or o.expires_at > $3::timestamptz)`;

@Injectable()
export class StandingOrders {
  constructor(private readonly db: Db) {}

  /**
   * The active orders with what each has let through so far. Holds the workspace's decisions until the transaction
   * ends, so that no second decision counts the same usage.
   */
  async activeWithUsage(workspaceId: string, timezone: string, at: number): Promise<OrderWithUsage[]> {
    const [, orders] = await this.db.unit.batch([
      { text: 'select pg_advisory_xact_lock(hashtextextended($1, 2))', values: [workspaceId] },
      { text: ACTIVE_WITH_USAGE, values: [workspaceId, timezone, new Date(at)] },
    ]);
    return orders as OrderWithUsage[];
  }

  /** Notes that an order let this move through; counted by its limits and its budget. */
  recordUse(standingOrderId: string, workPacketId: string, at: number, amount: number, cost: number): void {
    const { workspaceId } = this.db.unit.scope;
    this.db.insert(StandingOrderUseEntity, { workspaceId, standingOrderId, workPacketId, at, amount, cost });
  }
}
