import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import { ActionReversibility, OrderTools } from './order-tools.js';
import { ruleOf } from './order-content.js';
import { type OrderChange, type OrderInForceThen, type RestoredOrder, restorationOf } from './restoration.js';
import { relaxesIrreversible } from './standing-order.js';
import { receiptOf } from './standing-order-view.js';
import { StandingOrders } from './standing-orders.repository.js';
import { THROTTLED } from './standing-orders.service.js';

/** Of these orders, those that must not be put back in force, each with the reason as a sentence. */
type Objections = (standingOrderIds: readonly string[]) => Promise<ReadonlyMap<string, string>>;

/** What speaks against putting orders back in force; higher features register, and read in the open transaction. */
@Injectable()
export class RestoreObjections {
  readonly #objections: Objections[] = [];

  register(objections: Objections): void {
    this.#objections.push(objections);
  }

  async of(standingOrderIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const all = new Map<string, string>();
    for (const objections of this.#objections) {
      for (const [id, reason] of await objections(standingOrderIds)) all.set(id, reason);
    }
    return all;
  }
}

interface Restoration {
  checkpointId: string;
  orders: readonly OrderInForceThen[];
  by: Actor;
  /** Whether who asks is an owner, who alone lets orders allow again what cannot be undone. */
  isOwner: boolean;
  dryRun: boolean;
}

/**
 * Puts the orders back to what was in force: what was changed since is as it was, in a new version with the former content;
 * what was paused or archived since is in force again; what came into force since is paused. What was simulated when it
 * became active is not simulated again.
 */
@Injectable()
export class RestoreOrders {
  constructor(
    private readonly clock: Clock,
    private readonly orders: StandingOrders,
    private readonly db: Db,
    private readonly reversibility: ActionReversibility,
    private readonly tools: OrderTools,
    private readonly work: Work,
    private readonly objections: RestoreObjections,
    private readonly receipts: Receipts,
  ) {}

  /** In the open transaction, which sees the whole workspace. Answers what is changed, or with `dryRun` would be. */
  async execute(restoration: Restoration): Promise<RestoredOrder[]> {
    const changes = await this.changes(restoration);
    if (!restoration.dryRun) {
      for (const change of changes) this.write(change, restoration);
      await this.work.hasten(THROTTLED);
    }
    return changes.map(
      ({ row: _row, former: _former, isNewVersion: _isNewVersion, ...restored }) => restored,
    );
  }

  private async changes({ orders: inForceThen, isOwner, dryRun }: Restoration): Promise<OrderChange[]> {
    const at = this.clock.now();
    const ids = inForceThen.map(({ standingOrderId }) => standingOrderId);
    const now = await this.orders.inForceOrAmong(ids, dryRun ? '' : 'for update');
    const former = await this.orders.formerVersions(inForceThen);
    const objections = await this.objections.of(ids);
    const matches = [...former.values()].map(({ match }) => match);
    const tools = await this.tools.active(this.db.unit.scope.workspaceId, matches);
    return restorationOf(
      { now, inForceThen, former, objections },
      {
        at,
        isOwner,
        allowsIrreversible: (version) =>
          relaxesIrreversible(version, this.reversibility.within(version.capos, tools)),
      },
    );
  }

  private write(
    { row, former, isNewVersion, outcome, from }: OrderChange,
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
