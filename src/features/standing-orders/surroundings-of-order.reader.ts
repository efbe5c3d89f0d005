import { Injectable } from '@nestjs/common';
import type { Statement } from '../../platform/database/batch.js';
import { Db } from '../../platform/database/db.js';
import { columnsOf } from '../../platform/database/table.js';
import { StandingOrderEntity } from './standing-order.entity.js';

/** An order is compared with so many others, the newest first: enough for everybody, and bounded. */
const MOST_OTHERS = 1_000;

/** Those of another team are left out: they concern other work packets, and this order's team must not read of them. */
const OTHERS = /* sql */ `
select ${columnsOf(StandingOrderEntity)} from standing_orders
where workspace_id = $1 and status = 'active' and standing_order_id <> $2 and (team_id is null or team_id = $3)
  and (expires_at is null or expires_at > $4)
order by created_at desc, standing_order_id desc limit ${MOST_OTHERS}`;

/**
 * A work packet that several orders let through is counted once. As long as uses are kept (docs/retention.md). Of the order's own
 * team, or of none: what is found is read by those who see no other work packets. They are added up by the quarter of an hour
 * first, since windows of every zone begin with one, and there are few of these however many uses there are.
 */
const SPENT = /* sql */ `
select max(amount) as most from (
  select sum(amount) as amount from (
    select date_bin('15 minutes', at, 'epoch') as quarter, sum(amount) as amount from (
      select distinct on (u.work_packet_id) u.at, u.amount from standing_order_uses u
      join work_packets p on p.workspace_id = u.workspace_id and p.work_packet_id = u.work_packet_id
      where u.workspace_id = $1 and u.currency = $2 and u.amount > 0 and u.at > $4::timestamptz - interval '62 days'
        and p.team_id is not distinct from $5
      order by u.work_packet_id, u.at) packets
    group by quarter) quarters
  group by app.window_start($3, quarter, (select app.workspace_zone($1)))) windows`;

/** What an order stands beside. */
export interface OrderSurroundings {
  /** The active orders of the workspace and of the order's own team, without the order itself. */
  others: StandingOrderEntity[];
  /**
   * The most that went out of the order's team, or of none, within one window of its budget, in its currency; null: nothing
   * did, or it has no budget.
   */
  mostSpent: number | null;
}

type Surrounded = Pick<StandingOrderEntity, 'standingOrderId' | 'teamId' | 'budget'>;

/** What is known around an order, in the open transaction. */
@Injectable()
export class SurroundingsOfOrder {
  constructor(private readonly db: Db) {}

  async read(order: Surrounded, at: number): Promise<OrderSurroundings> {
    const { unit } = this.db;
    // Orders of the whole workspace hold for a team as well, whose members do not see them.
    await unit.seeWholeWorkspace();
    const [others, spent] = (await unit.batch(statementsFor(unit.scope.workspaceId, order, at))) as [
      StandingOrderEntity[],
      [{ most: number | null }?]?,
    ];
    return { others, mostSpent: spent?.[0]?.most ?? null };
  }
}

function statementsFor(
  workspaceId: string,
  { standingOrderId, teamId, budget }: Surrounded,
  at: number,
): Statement[] {
  const now = new Date(at);
  return [
    { text: OTHERS, values: [workspaceId, standingOrderId, teamId, now] },
    ...(budget ? [{ text: SPENT, values: [workspaceId, budget.currency, budget.window, now, teamId] }] : []),
  ];
}
