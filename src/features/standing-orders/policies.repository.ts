import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/kernel/clock.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { type DecisionOrder, type Policy, policyOrders, storableOrder } from './decision-input.js';

const ORDERS_OF = /* sql */ `
select v.standing_order_id, v.version, v.hash, v.name, o.status, v.team_id, v.capos, v.effect, v.match, v."when", v.limits,
  v.budget, v.approval, v.expires_at
from policies p
cross join jsonb_to_recordset(p.orders) as o("standingOrderId" text, version int, status text)
join standing_order_versions v on v.workspace_id = p.workspace_id and v.standing_order_id = o."standingOrderId"
  and v.version = o.version
where p.workspace_id = $1 and p.hash = $2`;

/** The policies that decisions were made under: immutable sets of immutable versions, each named by its hash. */
@Injectable()
export class Policies {
  /** What this process has added already, so that it is not written with every decision. */
  readonly #added = new WeakMap<readonly DecisionOrder[], Set<string>>();

  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
  ) {}

  /** Adds a policy in the open transaction, unless it is there. */
  add({ hash, orders }: Policy): void {
    const { unit } = this.db;
    const { workspaceId } = unit.scope;
    const added = this.#added.get(orders) ?? new Set();
    if (added.has(workspaceId)) return;
    this.db.write(
      `insert into policies (workspace_id, hash, orders, created_at) values ($1, $2, $3, $4) on conflict do nothing`,
      [workspaceId, hash, JSON.stringify(policyOrders({ orders })), new Date(this.clock.now())],
    );
    unit.afterCommit.push(() => this.#added.set(orders, added.add(workspaceId)));
  }

  /** The order versions of a policy as decisions take them; none for a hash that names no policy, or the empty one. */
  async ordersOf(scope: Scope, hash: string): Promise<DecisionOrder[]> {
    const { workspaceId } = scope;
    const rows = await this.db.read<DecisionOrder>({ workspaceId, teamIds: 'all' }, ORDERS_OF, [
      workspaceId,
      hash,
    ]);
    return rows.map(storableOrder);
  }
}
