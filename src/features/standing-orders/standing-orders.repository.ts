import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { type Listing, newestFirst, readPage, where } from '../../platform/database/listing.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Statement } from '../../platform/database/batch.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { canonicalJson } from '../../platform/kernel/canonical-json.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { type Id, isId } from '../../platform/kernel/ids.js';
import type { Page, PageQuery } from '../../platform/kernel/pages.dto.js';
import type { CapoRole } from '../terms/terms.js';
import {
  StandingOrderEntity,
  StandingOrderUseEntity,
  StandingOrderVersionEntity,
} from './standing-order.entity.js';
import type { StandingOrdersQuery } from './standing-orders.dto.js';
import type { NewUse } from './usages.js';

/** How much of an order's text stands in a list, in characters. */
const LISTED_TEXT = 1_000;
/** A rule may name thousands of values; it stands in the single record. */
const SUMMARY = columnsOf(StandingOrderEntity, {
  without: ['workspaceId', 'text', 'match', 'when', 'approval'],
});

/** An order as lists show it. */
export type ListedOrder = Omit<StandingOrderEntity, 'workspaceId' | 'match' | 'when' | 'approval'>;

const VERSION_SUMMARY = columnsOf(StandingOrderVersionEntity, {
  without: ['workspaceId', 'text', 'match', 'when', 'approval'],
});

/** A version as lists show it. */
export type ListedVersion = Omit<StandingOrderVersionEntity, 'workspaceId' | 'match' | 'when' | 'approval'>;

export interface OrderInWords extends Pick<StandingOrderEntity, 'name' | 'text' | 'effect'> {
  /** Empty: every capo. */
  capos: CapoRole[];
}

/** The zone in which the days, weeks and months of limits and budgets begin; as a sub-select it is looked up once. */
const ZONE = '(select app.workspace_zone($1))';

const USAGE = /* sql */ `
select standing_order_id, last_hour, last_day, amounts_today, budget_spent, warned
from app.order_usage($1, $3, ${ZONE}, $2)`;

const USAGE_FOR_A_LOOK = USAGE.replace('app.order_usage', 'app.read_order_usage');

/** By the primary key of a use: one look-up for each order. */
const FORMER_USES = /* sql */ `
select s.standing_order_id, s.amount, s.currency,
  case when s.currency = o.budget->>'currency' then s.amount else 0 end as spent,
  s.at > $2::timestamptz - interval '1 hour' as in_hour,
  s.at > $2::timestamptz - interval '1 day' as in_day,
  s.at >= app.window_start('day', $2::timestamptz, ${ZONE}) as today,
  s.at >= app.window_start(coalesce(o.budget->>'window', 'day'), $2::timestamptz, ${ZONE}) as in_budget_window
from standing_orders o
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

/** Decisions of one workspace wait for each other. */
const DECISION_LOCK = 'select pg_advisory_xact_lock(hashtextextended($1, 2))';

@Injectable()
export class StandingOrders {
  constructor(private readonly db: Db) {}

  /** Holds the workspace's decisions until the transaction ends, so that no second decision counts the same usage. */
  lockDecisionsStatement(workspaceId: string): Statement {
    return { text: DECISION_LOCK, values: [workspaceId] };
  }

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

  /**
   * The active orders that a directive of this team, or of none, is under, in a person's words. Those of other teams
   * are left out: what is said of the directive is read by its own team.
   */
  brief(workspaceId: string, teamId: string | null): Promise<OrderInWords[]> {
    return this.db.query(
      `select name, text, effect, coalesce(capos, '{}') as capos from standing_orders
       where workspace_id = $1 and status = 'active' and (team_id is null or team_id = $2)
       order by created_at desc limit 50`,
      [workspaceId, teamId],
    );
  }

  /** Adds an order and its first version in the open transaction; the rows are written with what comes next. */
  add(order: StandingOrderEntity): void {
    this.db.insert(StandingOrderEntity, order);
    this.addVersion(order);
  }

  /** Keeps what a locked order says from now on as its next version; {@link add} does it for the first. */
  addVersion(order: StandingOrderEntity, { by, at } = { by: order.createdBy, at: order.createdAt }): void {
    this.db.insert(StandingOrderVersionEntity, { ...order, createdBy: by, createdAt: at });
  }

  /** Keeps the order for this transaction. @throws NotFound for one that the caller may not see */
  async lock(standingOrderId: string): Promise<StandingOrderEntity> {
    if (!isId('so', standingOrderId)) throw new NotFound();
    const { workspaceId } = this.db.unit.scope;
    const order = await this.db.lockOne(StandingOrderEntity, { workspaceId, standingOrderId }, 'for update');
    if (!order) throw new NotFound();
    return order;
  }

  /** {@link lock}, together with the workspace's decisions: none of them goes by one version and counts for another. */
  async lockWithDecisions(standingOrderId: string): Promise<StandingOrderEntity> {
    // Before the order: whoever decides has the lock, and then shares the key of each order that counts a use.
    await this.db.unit.batch([this.lockDecisionsStatement(this.db.unit.scope.workspaceId)]);
    return this.lock(standingOrderId);
  }

  /** Writes what a locked order says and is from now on, as its next version. */
  saveVersion(
    next: StandingOrderEntity,
    former: StandingOrderEntity,
    made: { by: StandingOrderEntity['createdBy']; at: number },
  ): void {
    const { workspaceId, standingOrderId, createdBy: _createdBy, createdAt: _createdAt, ...columns } = next;
    this.db.update(StandingOrderEntity, { workspaceId, standingOrderId }, columns);
    this.addVersion(next, made);
    if (canonicalJson(next.budget) === canonicalJson(former.budget)) return;
    // What it has paid for is counted once more: in another currency, or another window, that is another sum.
    this.db.write('select app.recount_budget($1, $2)', [workspaceId, standingOrderId]);
  }

  /**
   * The versions of an order that the caller has been found to see, newest first. They go by the order, and not by the team
   * that it belonged to when they were made.
   */
  listVersions(
    { workspaceId }: Scope,
    standingOrderId: string,
    paging: PageQuery,
  ): Promise<Page<ListedVersion>> {
    const listing: Listing = {
      name: 'standing-order-versions',
      select: `${VERSION_SUMMARY}, left(text, ${LISTED_TEXT}) as text`,
      from: 'standing_order_versions',
      ...where({ workspace_id: workspaceId, standing_order_id: standingOrderId }),
      order: [{ column: 'version', kind: 'number', descending: true }],
    };
    return readPage(this.db, { workspaceId, teamIds: 'all' }, listing, paging);
  }

  /** One of them. @throws NotFound for a version that there is not */
  async getVersion(
    { workspaceId }: Scope,
    standingOrderId: string,
    version: number,
  ): Promise<StandingOrderVersionEntity> {
    const key = { workspaceId, standingOrderId: standingOrderId as Id<'so'>, version };
    const found = await this.db.findOne({ workspaceId, teamIds: 'all' }, StandingOrderVersionEntity, key);
    if (!found) throw new NotFound();
    return found;
  }

  /** A version of a locked order. */
  async findVersion(
    { workspaceId, standingOrderId }: StandingOrderEntity,
    version: number,
  ): Promise<StandingOrderVersionEntity | undefined> {
    const { unit } = this.db;
    await unit.seeWholeWorkspace();
    return this.db.findOne(unit.scope, StandingOrderVersionEntity, { workspaceId, standingOrderId, version });
  }

  /** Writes the status of a locked order, with what goes with it. */
  saveStatus(order: StandingOrderEntity): void {
    const { workspaceId, standingOrderId, status, heldBecause, updatedAt, activatedAt, evalRunId } = order;
    this.db.update(
      StandingOrderEntity,
      { workspaceId, standingOrderId },
      { status, heldBecause, updatedAt, activatedAt, evalRunId },
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

  /** Of these orders, those that the scope may see. */
  async visible(scope: Scope, standingOrderIds: readonly string[]): Promise<Set<string>> {
    const rows = await this.db.read<{ standingOrderId: string }>(
      scope,
      'select standing_order_id from standing_orders where workspace_id = $1 and standing_order_id = any($2)',
      [scope.workspaceId, standingOrderIds],
    );
    return new Set(rows.map(({ standingOrderId }) => standingOrderId));
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
