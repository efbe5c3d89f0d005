import { Injectable } from '@nestjs/common';
import type { Statement } from '../../platform/database/batch.js';
import { Db } from '../../platform/database/db.js';
import { columnsOf } from '../../platform/database/table.js';
import { Clock } from '../../platform/kernel/clock.js';
import { StandingOrderEntity } from '../standing-orders/standing-order.entity.js';
import type { AssessedOrder, SafetyTarget } from './safety-target.js';

/** An order is compared with so many others, the newest first: enough for everybody, and bounded. */
const MOST_OTHERS = 1_000;

/** Those of another team are left out: they concern other work packets, and this order's team must not read of them. */
const OTHERS = /* sql */ `
select ${columnsOf(StandingOrderEntity)} from standing_orders
where workspace_id = $1 and status = 'active' and standing_order_id <> $2 and (team_id is null or team_id = $3)
  and (expires_at is null or expires_at > $4)
order by created_at desc, standing_order_id desc limit ${MOST_OTHERS}`;

/** A work packet that several orders let through is counted once. As long as uses are kept (docs/retention.md). */
const SPENT = /* sql */ `
select max(amount) as most from (
  select sum(amount) as amount from (
    select distinct on (work_packet_id) at, amount from standing_order_uses
    where workspace_id = $1 and currency = $2 and amount > 0 and at > $4::timestamptz - interval '62 days'
    order by work_packet_id, at) packets
  group by date_trunc($3, at, app.workspace_zone($1))) windows`;

/** What the safety of an order depends on, in the open transaction. */
@Injectable()
export class SafetyTargets {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
  ) {}

  async of(order: AssessedOrder): Promise<SafetyTarget> {
    const { unit } = this.db;
    const at = this.clock.now();
    // Orders of the whole workspace hold for a team as well, whose members do not see them.
    await unit.seeWholeWorkspace();
    const [others, spent] = (await unit.batch(this.statements(unit.scope.workspaceId, order, at))) as [
      AssessedOrder[],
      [{ most: number | null }?]?,
    ];
    const most = spent?.[0]?.most ?? null;
    return {
      order,
      others,
      spent: order.budget && most !== null ? { [order.budget.currency]: most } : {},
      faults: [],
      at,
    };
  }

  private statements(
    workspaceId: string,
    { standingOrderId, teamId, budget }: AssessedOrder,
    at: number,
  ): Statement[] {
    const now = new Date(at);
    return [
      { text: OTHERS, values: [workspaceId, standingOrderId, teamId, now] },
      ...(budget ? [{ text: SPENT, values: [workspaceId, budget.currency, budget.window, now] }] : []),
    ];
  }
}
