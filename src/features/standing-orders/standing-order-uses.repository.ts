import { Injectable } from '@nestjs/common';
import type { Statement } from '../../platform/database/batch.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { Use } from './uses-of-order.js';

/** The zone in which the days, weeks and months of limits and budgets begin; as a sub-select it is looked up once. */
const ZONE = '(select app.workspace_zone($1))';

const USAGE = /* sql */ `
select standing_order_id, last_hour, last_day, amounts_today, budget_spent, warned, is_settled
from app.order_usage($1, $2, ${ZONE}, current_setting('app.decided_at')::timestamptz)`;

/** What orders no longer count of a work packet that certainly was not sent; stands in the receipt that says so. */
export interface GivenBack {
  workPacketId: string;
  standingOrderIds: string[];
}

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

/**
 * Answers `{ at }`, when the workspace's next decision is made, by the database's clock; the statements behind it go by that time.
 * One that counts something is made behind {@link lockDecisionsStatement}.
 */
export function decisionTimeStatement(workspaceId: string): Statement {
  return { text: 'select app.decision_time($1) as at', values: [workspaceId] };
}

/** What standing orders have let through, counted for their limits and budgets. */
@Injectable()
export class StandingOrderUses {
  constructor(private readonly db: Db) {}

  /** What each of these orders has let through until the time of the decision. */
  usageStatement(workspaceId: string, standingOrderIds: readonly string[]): Statement {
    return { text: USAGE, values: [workspaceId, standingOrderIds] };
  }

  /** What this order has let through until now, outside of a decision. */
  async used(scope: Scope, standingOrderId: string): Promise<{ lastHour: number; lastDay: number }> {
    const [row] = await this.db.read<{ lastHour: number; lastDay: number }>(
      scope,
      `select last_hour::int, last_day::int from app.order_usage($1, array[$2], ${ZONE}, app.clock())`,
      [scope.workspaceId, standingOrderId],
    );
    return row!;
  }

  /** What a work packet has used up by an earlier decision. */
  formerUsesStatement(workspaceId: string, workPacketId: string): Statement {
    return {
      text: `select standing_order_id, at, amount, currency from standing_order_uses
        where workspace_id = $1 and work_packet_id = $2`,
      values: [workspaceId, workPacketId],
    };
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

  /** Notes that these orders let a work packet through; counted by their limits and budgets. Decisions are locked. */
  recordUses(
    standingOrderIds: readonly string[],
    workPacketId: string,
    { at, amount, currency }: Use,
    unsettled: readonly string[],
  ): void {
    const { workspaceId } = this.db.unit.scope;
    if (unsettled.length > 0) {
      const values = [workspaceId, unsettled, new Date(at)];
      this.db.write(`select app.settle_order_usage($1, $2, ${ZONE}, $3)`, values);
    }
    this.db.write(
      `insert into standing_order_uses (workspace_id, standing_order_id, work_packet_id, at, amount, currency)
       select $1, o.id, $2, $3, $4, $5 from unnest($6::text[]) o (id)`,
      [workspaceId, workPacketId, new Date(at), amount, currency, standingOrderIds],
    );
  }

  /** Notes that somebody is warned: the budget of the present window is nearly spent. */
  recordWarning(standingOrderId: string): void {
    const { workspaceId } = this.db.unit.scope;
    this.db.write('select app.mark_budget_warned($1, $2)', [workspaceId, standingOrderId]);
  }

  /** Work packets certainly were not sent: what orders counted of them is deleted. Decisions are locked. */
  async giveBack(workPacketIds: readonly string[]): Promise<GivenBack[]> {
    const { unit } = this.db;
    const { workspaceId } = unit.scope;
    const [, given] = (await unit.batch([
      lockDecisionsStatement(workspaceId),
      {
        text: `with given as (
            delete from standing_order_uses where workspace_id = $1 and work_packet_id = any($2)
            returning work_packet_id, standing_order_id)
          select work_packet_id, array_agg(standing_order_id order by standing_order_id) as standing_order_ids
          from given group by work_packet_id order by work_packet_id`,
        values: [workspaceId, workPacketIds],
      },
    ])) as [unknown, GivenBack[]];
    return given;
  }
}
