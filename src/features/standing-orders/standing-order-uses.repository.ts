import { Injectable } from '@nestjs/common';
import type { Statement } from '../../platform/database/batch.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { StandingOrderUseEntity } from './standing-order.entity.js';
import type { NewUse } from './usages.js';

/** The zone in which the days, weeks and months of limits and budgets begin; as a sub-select it is looked up once. */
const ZONE = '(select app.workspace_zone($1))';

const USAGE = /* sql */ `
select standing_order_id, last_hour, last_day, amounts_today, budget_spent, warned
from app.order_usage($1, $3, ${ZONE}, $2)`;

const USAGE_FOR_A_LOOK = USAGE.replace('app.order_usage', 'app.read_order_usage');

/** By the primary key of a use: one look-up for each order. When a window began is worked out once for all of them. */
const FORMER_USES = /* sql */ `
with windows as materialized (
  select app.window_start('day', $2::timestamptz, zone) as day, app.window_start('week', $2::timestamptz, zone) as week,
    app.window_start('month', $2::timestamptz, zone) as month
  from app.workspace_zone($1) zone)
select s.standing_order_id, s.amount, s.currency,
  case when s.currency = o.budget->>'currency' then s.amount else 0 end as spent,
  s.at > $2::timestamptz - interval '1 hour' as in_hour,
  s.at > $2::timestamptz - interval '1 day' as in_day,
  s.at >= w.day as today,
  s.at >= case o.budget->>'window' when 'week' then w.week when 'month' then w.month else w.day end as in_budget_window
from windows w cross join standing_orders o
join standing_order_uses s on s.workspace_id = o.workspace_id and s.standing_order_id = o.standing_order_id
  and s.work_packet_id = $4
where o.workspace_id = $1 and o.standing_order_id = any($3)`;

/** One use of each order: so many of those within its window before `$2` are newer. */
const NEWEST_USES = /* sql */ `
select (select s.at from standing_order_uses s
  where s.workspace_id = $1 and s.standing_order_id = w.id and s.at > $2::timestamptz - w.hours * interval '1 hour'
    and s.work_packet_id is distinct from $3
  order by s.at desc offset w.newer limit 1) as at
from unnest($4::text[], $5::int[], $6::int[]) with ordinality as w (id, hours, newer, n) order by w.n`;

/** Holds the workspace's decisions until the transaction ends, so that no second decision counts the same usage. */
export function lockDecisionsStatement(workspaceId: string): Statement {
  return { text: 'select pg_advisory_xact_lock(hashtextextended($1, 2))', values: [workspaceId] };
}

/** What standing orders have let through, counted for their limits and budgets. */
@Injectable()
export class StandingOrderUses {
  constructor(private readonly db: Db) {}

  /** What each of these orders has let through so far; decisions are locked. */
  usageStatement(workspaceId: string, standingOrderIds: readonly string[], at: number): Statement {
    return { text: USAGE, values: [workspaceId, new Date(at), standingOrderIds] };
  }

  /** The same for whoever decides nothing: no lock is needed, and no counter changes. */
  usageForLookStatement(workspaceId: string, standingOrderIds: readonly string[], at: number): Statement {
    return { text: USAGE_FOR_A_LOOK, values: [workspaceId, new Date(at), standingOrderIds] };
  }

  /** What a work packet has used up of these orders by an earlier decision. */
  formerUsesStatement(
    workspaceId: string,
    standingOrderIds: readonly string[],
    workPacketId: string,
    at: number,
  ): Statement {
    return { text: FORMER_USES, values: [workspaceId, new Date(at), standingOrderIds, workPacketId] };
  }

  /**
   * When each of these uses was: so many uses of the order in the last hours are newer than it, apart from what the work
   * packet itself has used up. Null where there are not that many. In the open transaction, if there is one.
   */
  async timesOfUses(
    scope: Scope,
    uses: readonly { standingOrderId: string; hours: number; newer: number }[],
    workPacketId: string | null,
    at: number,
  ): Promise<(number | null)[]> {
    const rows = await this.db.read<{ at: number | null }>(scope, NEWEST_USES, [
      scope.workspaceId,
      new Date(at),
      workPacketId,
      uses.map(({ standingOrderId }) => standingOrderId),
      uses.map(({ hours }) => hours),
      uses.map(({ newer }) => newer),
    ]);
    return rows.map((row) => row.at);
  }

  /** Notes that an order let a work packet through; counted by its limits and its budget. */
  recordUse(use: NewUse): void {
    this.db.insert(StandingOrderUseEntity, { ...use, workspaceId: this.db.unit.scope.workspaceId });
  }

  /** Notes that somebody is warned: the budget of the present window is nearly spent. */
  recordWarning(standingOrderId: string): void {
    const { workspaceId } = this.db.unit.scope;
    this.db.write('select app.mark_budget_warned($1, $2)', [workspaceId, standingOrderId]);
  }

  /** {@link recordUse} for a work packet that this order counted in an earlier window: from now on it counts in this one. */
  renewUse({ standingOrderId, workPacketId, at }: NewUse): void {
    this.db.write(
      `update standing_order_uses set at = $4
       where workspace_id = $1 and standing_order_id = $2 and work_packet_id = $3`,
      [this.db.unit.scope.workspaceId, standingOrderId, workPacketId, new Date(at)],
    );
  }
}
