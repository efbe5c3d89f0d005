import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { newestFirst, readPage, where } from '../../platform/database/listing.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Statement } from '../../platform/database/batch.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { isId } from '../../platform/kernel/ids.js';
import type { Page } from '../../platform/kernel/pages.dto.js';
import type { DecisionOrder, OrderUsage } from './decision-input.js';
import { StandingOrderEntity, StandingOrderUseEntity } from './standing-order.entity.js';
import type { StandingOrdersQuery } from './standing-orders.dto.js';

/** How much of an order's text stands in a list, in characters. */
const LISTED_TEXT = 1_000;
/** A rule may name thousands of values; it stands in the single record. */
const SUMMARY = columnsOf(StandingOrderEntity, {
  without: ['workspaceId', 'text', 'match', 'when', 'approval'],
});

/** An order as lists show it. */
export type ListedOrder = Omit<StandingOrderEntity, 'workspaceId' | 'match' | 'when' | 'approval'>;

export interface OrderWithUsage extends DecisionOrder {
  usage: Omit<OrderUsage, 'amountToday'> & {
    /** By currency: a limit on amounts holds for each currency by itself. */
    amountsToday: Record<string, number>;
  };
}

const ACTIVE_WITH_USAGE = /* sql */ `
select o.standing_order_id, o.version, o.hash, o.name, o.status, o.team_id, o.capos, o.effect, o.match, o."when",
  o.limits, o.budget, o.approval, o.expires_at,
  json_build_object('lastHour', coalesce(u.last_hour, 0), 'lastDay', coalesce(u.last_day, 0),
    'amountsToday', coalesce(u.amounts_today, '{}'), 'budgetSpent', coalesce(u.budget_spent, 0)) as usage
from app.order_usage($1, $2, $3) u
join standing_orders o on o.workspace_id = $1 and o.standing_order_id = u.standing_order_id
where o.status = 'active' and (o.expires_at is null or o.expires_at > $3::timestamptz)`;

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

  /** Adds an order in the open transaction; the row is written with what comes next. */
  add(order: StandingOrderEntity): void {
    this.db.insert(StandingOrderEntity, order);
  }

  /** Keeps the order for this transaction. @throws NotFound for one that the caller may not see */
  async lock(standingOrderId: string): Promise<StandingOrderEntity> {
    if (!isId('so', standingOrderId)) throw new NotFound();
    const { workspaceId } = this.db.unit.scope;
    const order = await this.db.lockOne(StandingOrderEntity, { workspaceId, standingOrderId }, 'for update');
    if (!order) throw new NotFound();
    return order;
  }

  /** Writes the status of a locked order, with what goes with it. */
  saveStatus(order: StandingOrderEntity): void {
    const { workspaceId, standingOrderId, status, heldBecause, updatedAt, activatedAt } = order;
    this.db.update(
      StandingOrderEntity,
      { workspaceId, standingOrderId },
      { status, heldBecause, updatedAt, activatedAt },
    );
  }

  /** @throws NotFound for an order that the caller may not see */
  async get(scope: Scope, standingOrderId: string): Promise<StandingOrderEntity> {
    if (!isId('so', standingOrderId)) throw new NotFound();
    const { workspaceId } = scope;
    const order = await this.db.findOne(scope, StandingOrderEntity, { workspaceId, standingOrderId });
    if (!order) throw new NotFound();
    return order;
  }

  /** The orders of one status, newest first. */
  list(scope: Scope, { status, ...paging }: StandingOrdersQuery): Promise<Page<ListedOrder>> {
    const listing = {
      name: 'standing-orders',
      select: `${SUMMARY}, left(text, ${LISTED_TEXT}) as text`,
      from: 'standing_orders',
      ...where({ workspace_id: scope.workspaceId, status }),
      order: newestFirst('standing_order_id'),
    };
    return readPage(this.db, scope, listing, paging);
  }

  /** Notes that an order let a move through; counted by its limits and its budget. */
  recordUse(use: Omit<StandingOrderUseEntity, 'workspaceId'>): void {
    this.db.insert(StandingOrderUseEntity, { ...use, workspaceId: this.db.unit.scope.workspaceId });
  }
}
