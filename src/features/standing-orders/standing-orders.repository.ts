import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { type Listing, newestFirst, readPage, where } from '../../platform/database/listing.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { canonicalJson } from '../../platform/kernel/canonical-json.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { type Id, isId } from '../../platform/kernel/ids.js';
import type { Page, PageQuery } from '../../platform/kernel/pages.dto.js';
import type { CapoRole } from '../terms/index.js';
import { fieldsMatch } from './match.js';
import type { FormerVersion } from './restoration.js';
import { StandingOrderEntity, StandingOrderVersionEntity } from './standing-order.entity.js';
import type { OrderMatch } from './standing-order.js';
import { lockDecisionsStatement } from './standing-order-uses.repository.js';
import type { StandingOrdersQuery } from './standing-orders.dto.js';

const COLUMNS = columnsOf(StandingOrderEntity);
/** How much of an order's text stands in a list, in characters. */
const LISTED_TEXT = 1_000;
/** A rule may name thousands of values: a longer one stands in the single record. */
const LISTED_MATCH = 2_000;
const SUMMARY = columnsOf(StandingOrderEntity, { without: ['workspaceId', 'text', 'match'] });

/** An order as lists show it. */
export type ListedOrder = Omit<StandingOrderEntity, 'workspaceId' | 'match'> & { match: OrderMatch | null };

const VERSION_SUMMARY = columnsOf(StandingOrderVersionEntity, {
  without: ['workspaceId', 'text', 'match', 'when', 'approval'],
});

/** A version as lists show it. */
export type ListedVersion = Omit<StandingOrderVersionEntity, 'workspaceId' | 'match' | 'when' | 'approval'>;

export interface OrderInWords extends Pick<StandingOrderEntity, 'name' | 'text' | 'effect'> {
  /** Empty: every capo. */
  capos: CapoRole[];
}

@Injectable()
export class StandingOrders {
  constructor(private readonly db: Db) {}

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
    // Before the order: a decision takes this lock, and then shares the key of each order that counts a use.
    await this.db.unit.batch([lockDecisionsStatement(this.db.unit.scope.workspaceId)]);
    return this.lock(standingOrderId);
  }

  /** Keeps the orders of a team that are not archived. */
  async lockOfTeam(teamId: string): Promise<StandingOrderEntity[]> {
    // Not against the key shares of decisions that count a use: their order may be in force for them still.
    return this.db.query(
      `select ${COLUMNS} from standing_orders
       where workspace_id = $1 and team_id = $2 and status <> 'archived'
       order by standing_order_id for no key update`,
      [this.db.unit.scope.workspaceId, teamId],
    );
  }

  /** Keeps those of these orders that are not archived. */
  lockUnarchived(standingOrderIds: readonly string[]): Promise<StandingOrderEntity[]> {
    return this.db.query(
      `select ${COLUMNS} from standing_orders
       where workspace_id = $1 and standing_order_id = any($2) and status <> 'archived'
       order by standing_order_id for update`,
      [this.db.unit.scope.workspaceId, standingOrderIds],
    );
  }

  /** The orders that are in force, and these. */
  async inForceOrAmong(
    standingOrderIds: readonly string[],
    lock: 'for update' | '',
  ): Promise<StandingOrderEntity[]> {
    return this.db.query(
      `select ${COLUMNS} from standing_orders
       where workspace_id = $1 and (status in ('active', 'shadow') or standing_order_id = any($2))
       order by standing_order_id ${lock}`,
      [this.db.unit.scope.workspaceId, standingOrderIds],
    );
  }

  /** These versions, by the id of the order, each with the number of the order's newest one. */
  async formerVersions(
    versions: readonly { standingOrderId: string; version: number }[],
  ): Promise<Map<string, FormerVersion>> {
    const rows = await this.db.query<FormerVersion>(
      `select ${columnsOf(StandingOrderVersionEntity, { of: 'v' })}, (
           select max(n.version) from standing_order_versions n
           where n.workspace_id = v.workspace_id and n.standing_order_id = v.standing_order_id) as newest
       from unnest($2::text[], $3::int[]) was (standing_order_id, version)
       join standing_order_versions v on v.workspace_id = $1 and v.standing_order_id = was.standing_order_id
         and v.version = was.version`,
      [
        this.db.unit.scope.workspaceId,
        versions.map(({ standingOrderId }) => standingOrderId),
        versions.map(({ version }) => version),
      ],
    );
    return new Map(rows.map((row) => [row.standingOrderId, row]));
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

  /** Of these orders, those that the scope may see, and how they stand. */
  async visible(
    scope: Scope,
    standingOrderIds: readonly string[],
  ): Promise<Map<string, StandingOrderEntity['status']>> {
    const rows = await this.db.read<Pick<StandingOrderEntity, 'standingOrderId' | 'status'>>(
      scope,
      'select standing_order_id, status from standing_orders where workspace_id = $1 and standing_order_id = any($2)',
      [scope.workspaceId, standingOrderIds],
    );
    return new Map(rows.map(({ standingOrderId, status }) => [standingOrderId, status]));
  }

  /** The names of the orders that allow work packets which have this value at `path`, or would once they are activated. */
  async allowing(path: string, value: string): Promise<string[]> {
    const orders = await this.db.query<Pick<StandingOrderEntity, 'name' | 'match'>>(
      `select name, match from standing_orders
       where workspace_id = $1 and effect = 'allow' and status <> 'archived' and match->'fields'->$2 is not null
       order by standing_order_id`,
      [this.db.unit.scope.workspaceId, path],
    );
    const naming = orders.filter(({ match: { fields } }) =>
      fieldsMatch({ [path]: fields![path]! }, () => value, true),
    );
    return naming.map(({ name }) => name);
  }

  /** The orders of one status, or of every one, newest first. */
  list(scope: Scope, { status, ...paging }: StandingOrdersQuery): Promise<Page<ListedOrder>> {
    const listing = {
      name: 'standing-orders',
      select: `${SUMMARY}, left(text, ${LISTED_TEXT}) as text,
        case when length(match::text) <= ${LISTED_MATCH} then match end as match`,
      from: 'standing_orders',
      ...where({ workspace_id: scope.workspaceId, status: status === 'all' ? undefined : status }),
      order: newestFirst('standing_order_id'),
    };
    return readPage(this.db, scope, listing, paging);
  }
}
