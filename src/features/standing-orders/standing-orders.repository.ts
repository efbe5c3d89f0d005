import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Statement } from '../../platform/database/unit-of-work.js';
import type { DecisionOrder, OrderUsage } from './decision-input.js';
import { StandingOrderUseEntity } from './standing-order.entity.js';

export interface OrderWithUsage extends DecisionOrder {
  usage: Omit<OrderUsage, 'amountToday'> & {
    /** By currency: a limit on amounts holds for each currency by itself. */
    amountsToday: Record<string, number>;
  };
}

const ACTIVE_WITH_USAGE = /* sql */ `
select o.standing_order_id, o.version, o.hash, o.name, o.status, o.team_id, o.capos, o.effect, o.match, o."when",
  o.limits, o.budget, o.approval, o.expires_at,
  json_build_object('lastHour', u.last_hour, 'lastDay', u.last_day, 'amountsToday', d.amounts,
    'budgetSpent', u.budget_spent) as usage
from standing_orders o
cross join lateral (
  select count(*) filter (where s.at > $3::timestamptz - interval '1 hour') as last_hour,
    count(*) filter (where s.at > $3::timestamptz - interval '1 day') as last_day,
    coalesce(sum(s.spent) filter (where s.at >= date_trunc(coalesce(o.budget->>'window', 'day'), $3::timestamptz, $2)), 0)
      as budget_spent
  from standing_order_uses s
  where s.workspace_id = o.workspace_id and s.standing_order_id = o.standing_order_id
    and s.at > $3::timestamptz - interval '32 days'
) u
cross join lateral (
  select coalesce(json_object_agg(c.currency, c.amount), '{}') as amounts from (
    select s.currency, sum(s.amount) as amount from standing_order_uses s
    where s.workspace_id = o.workspace_id and s.standing_order_id = o.standing_order_id
      and s.at >= date_trunc('day', $3::timestamptz, $2) and s.currency is not null
    group by s.currency
  ) c
) d
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

  /** The active orders in a person's words; for a caller that sends it along with statements of its own. */
  briefStatement(workspaceId: string): Statement {
    return {
      text: `select name, text, effect, coalesce(capos, '{}') as capos from standing_orders
        where workspace_id = $1 and status = 'active' order by created_at desc limit 50`,
      values: [workspaceId],
    };
  }

  /** Notes that an order let a move through; counted by its limits and its budget. */
  recordUse(use: Omit<StandingOrderUseEntity, 'workspaceId'>): void {
    this.db.insert(StandingOrderUseEntity, { ...use, workspaceId: this.db.unit.scope.workspaceId });
  }
}
