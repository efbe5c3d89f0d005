import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { columnsOf } from '../../platform/database/table.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { ActionReversibility } from './action-reversibility.js';
import { ruleOf } from './order-content.js';
import { RestoreObjections } from './restore-objections.js';
import { relaxesIrreversible, type StandingOrderStatus } from './standing-order.js';
import { StandingOrderEntity, StandingOrderVersionEntity } from './standing-order.entity.js';
import { receiptOf } from './standing-order-view.js';
import { StandingOrders } from './standing-orders.repository.js';
import { ThrottledWork } from './throttled-work.js';

/** Which version of an order was in force at some moment. */
export interface OrderInForceThen {
  standingOrderId: string;
  version: number;
  hash: string;
  status: 'active' | 'shadow';
}

/** What becomes of an order that is not as it was. */
export interface RestoredOrder {
  standingOrderId: string;
  name: string;
  outcome: 'restored' | 'paused' | 'skipped';
  from: OrderState;
  /** Null when it stays as it is. */
  to: OrderState | null;
  /** Why it stays as it is. */
  reason: string | null;
}

interface OrderState {
  version: number;
  status: StandingOrderStatus;
}

interface FormerVersion extends StandingOrderVersionEntity {
  /** The number of the order's newest version. */
  newest: number;
}

/** One order with what becomes of it, and how its row is written then. */
interface Change extends RestoredOrder {
  row: StandingOrderEntity | null;
  former: StandingOrderEntity;
  isNewVersion: boolean;
}

export interface Restoration {
  checkpointId: string;
  orders: readonly OrderInForceThen[];
  by: Actor;
  /** Whether who asks is an owner, who alone lets orders allow again what cannot be undone. */
  isOwner: boolean;
  dryRun: boolean;
}

const GONE = 'The version that was in force is gone.';
const EXPIRED = 'It has expired meanwhile.';
const MOVED = 'It belongs to another team by now.';
const OWNERS = 'It allows work packets that cannot be undone, so only an owner may put it back.';

/**
 * Puts the orders back to what was in force: what was changed since is as it was, in a new version with the former content;
 * what was paused or archived since is in force again; what came into force since is paused. What was simulated when it
 * became active is not simulated again.
 */
@Injectable()
export class RestoreOrders {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly orders: StandingOrders,
    private readonly reversibility: ActionReversibility,
    private readonly throttled: ThrottledWork,
    private readonly objections: RestoreObjections,
    private readonly receipts: Receipts,
  ) {}

  /** In the open transaction, which sees the whole workspace. Answers what is changed, or with `dryRun` would be. */
  async execute(restoration: Restoration): Promise<RestoredOrder[]> {
    const changes = await this.changes(restoration);
    if (!restoration.dryRun) {
      for (const change of changes) this.write(change, restoration);
      await this.throttled.decideAgain();
    }
    return changes.map(
      ({ row: _row, former: _former, isNewVersion: _isNewVersion, ...restored }) => restored,
    );
  }

  private async changes({ orders, isOwner, dryRun }: Restoration): Promise<Change[]> {
    const at = this.clock.now();
    const current = await this.current(orders, dryRun ? '' : 'for update');
    const former = await this.former(orders);
    const objections = await this.objections.of(orders.map(({ standingOrderId }) => standingOrderId));
    const then = new Map(orders.map((order) => [order.standingOrderId, order]));
    return current.flatMap((order): Change[] => {
      const was = then.get(order.standingOrderId);
      if (!was) return hasExpired(order, at) ? [] : [paused(order, at)];
      const version = former.get(order.standingOrderId);
      if (!version) return [skipped(order, GONE)];
      if (saysTheSame(order, version) && order.status === was.status) return [];
      if (version.teamId !== order.teamId) return [skipped(order, MOVED)];
      const objection = objections.get(order.standingOrderId);
      if (objection !== undefined) return [skipped(order, objection)];
      if (hasExpired(version, at)) return [skipped(order, EXPIRED)];
      const relaxes = relaxesIrreversible(version, this.reversibility.within(version.capos));
      if (relaxes && was.status === 'active' && !isOwner) return [skipped(order, OWNERS)];
      return [putBack(order, { ...version, status: was.status }, at)];
    });
  }

  /** The orders that are in force now or were then. */
  private async current(
    then: readonly OrderInForceThen[],
    lock: 'for update' | '',
  ): Promise<StandingOrderEntity[]> {
    return this.db.query<StandingOrderEntity>(
      `select ${columnsOf(StandingOrderEntity)} from standing_orders
       where workspace_id = $1 and (status in ('active', 'shadow') or standing_order_id = any($2))
       order by standing_order_id ${lock}`,
      [this.db.unit.scope.workspaceId, then.map(({ standingOrderId }) => standingOrderId)],
    );
  }

  private async former(then: readonly OrderInForceThen[]): Promise<Map<string, FormerVersion>> {
    const rows = await this.db.query<FormerVersion>(
      `select ${columnsOf(StandingOrderVersionEntity, { of: 'v' })}, (
           select max(n.version) from standing_order_versions n
           where n.workspace_id = v.workspace_id and n.standing_order_id = v.standing_order_id) as newest
       from unnest($2::text[], $3::int[]) was (standing_order_id, version)
       join standing_order_versions v on v.workspace_id = $1 and v.standing_order_id = was.standing_order_id
         and v.version = was.version`,
      [
        this.db.unit.scope.workspaceId,
        then.map(({ standingOrderId }) => standingOrderId),
        then.map(({ version }) => version),
      ],
    );
    return new Map(rows.map((row) => [row.standingOrderId, row]));
  }

  private write(
    { row, former, isNewVersion, outcome, from }: Change,
    { by, checkpointId }: Restoration,
  ): void {
    if (!row) return;
    if (isNewVersion) this.orders.saveVersion(row, former, { by, at: row.updatedAt });
    else this.orders.saveStatus(row);
    const act = outcome === 'paused' ? 'paused' : 'restored';
    const rule = isNewVersion && { rule: ruleOf(row) };
    this.receipts.append(receiptOf(row, act, by, { checkpointId, from, ...rule }));
  }
}

function hasExpired({ expiresAt }: Pick<StandingOrderEntity, 'expiresAt'>, at: number): boolean {
  return expiresAt !== null && expiresAt <= at;
}

/** The hash is that of the rule alone. */
function saysTheSame(order: StandingOrderEntity, { hash, name, text }: FormerVersion): boolean {
  return order.hash === hash && order.name === name && order.text === text;
}

function putBack(
  order: StandingOrderEntity,
  version: FormerVersion & { status: 'active' | 'shadow' },
  at: number,
): Change {
  const { newest, createdBy: _createdBy, createdAt: _createdAt, ...content } = version;
  const isNewVersion = !saysTheSame(order, version);
  const row: StandingOrderEntity = {
    ...order,
    ...content,
    version: isNewVersion ? newest + 1 : order.version,
    ...(isNewVersion && { simulation: null, evalRunId: null }),
    heldBecause: null,
    updatedAt: at,
    activatedAt: at,
  };
  return {
    ...namesOf(order),
    former: order,
    outcome: 'restored',
    to: stateOf(row),
    reason: null,
    row,
    isNewVersion,
  };
}

function paused(order: StandingOrderEntity, at: number): Change {
  const row: StandingOrderEntity = { ...order, status: 'paused', updatedAt: at };
  return {
    ...namesOf(order),
    former: order,
    outcome: 'paused',
    to: stateOf(row),
    reason: null,
    row,
    isNewVersion: false,
  };
}

function skipped(order: StandingOrderEntity, reason: string): Change {
  return {
    ...namesOf(order),
    former: order,
    outcome: 'skipped',
    to: null,
    reason,
    row: null,
    isNewVersion: false,
  };
}

function namesOf(order: StandingOrderEntity) {
  return { standingOrderId: order.standingOrderId, name: order.name, from: stateOf(order) };
}

function stateOf({ version, status }: StandingOrderEntity): OrderState {
  return { version, status };
}
