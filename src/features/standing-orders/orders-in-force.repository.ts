import { Injectable } from '@nestjs/common';
import type { Statement } from '../../platform/database/batch.js';
import { Db } from '../../platform/database/db.js';
import { scopeSettings } from '../../platform/database/unit-of-work.js';
import { type DecisionOrder, storableOrder } from './decision-input.js';
import type { OrdersOfTeams } from './orders-for.js';

/** How many characters of orders are known at the most; an order is some 500 of them, and 100,000 at the most. */
const CAPACITY = 4_000_000;

/** What a workspace has in force, active or in shadow, of every team, until one of its orders changes. */
export interface KnownOrders {
  epoch: number;
  orders: readonly DecisionOrder[];
  characters: number;
  ofTeams: OrdersOfTeams;
}

interface Row extends Omit<DecisionOrder, 'standingOrderId'> {
  epoch: number;
  isWhole: boolean;
  /** Null in the only row of a workspace without orders in force. */
  standingOrderId: DecisionOrder['standingOrderId'] | null;
}

const NONE: KnownOrders = { epoch: -1, orders: [], characters: 0, ofTeams: new Map() };

const IN_FORCE = /* sql */ `
select e.epoch, current_setting('app.team_ids') = '*' as is_whole, o.standing_order_id, o.version, o.hash, o.name, o.status,
  o.team_id, o.capos, o.effect, o.match, o."when", o.limits, o.budget, o.approval, o.expires_at
from (select coalesce(max(epoch), 0) as epoch from standing_order_epochs where workspace_id = $1) e
left join standing_orders o on o.workspace_id = $1 and o.status in ('active', 'shadow')`;

/**
 * The orders that decisions go by. They change seldom and are read by every decision, so they are read once: a decision asks
 * for the epoch alone, which every change of an order counts up, and reads the orders when it is another one.
 */
@Injectable()
export class OrdersInForce {
  readonly #known = new Map<string, KnownOrders>();
  #characters = 0;

  constructor(private readonly db: Db) {}

  /** What was read last; of the epoch -1 when nothing was. */
  known(workspaceId: string): KnownOrders {
    return this.#known.get(workspaceId) ?? NONE;
  }

  /** Answers `{ epoch }`; the orders are those of {@link known} while it is theirs. */
  epochStatement(workspaceId: string): Statement {
    return {
      text: 'select coalesce(max(epoch), 0) as epoch from standing_order_epochs where workspace_id = $1',
      values: [workspaceId],
    };
  }

  /** Reads them in the open transaction: those of every team, also where the caller sees fewer. */
  async read(workspaceId: string): Promise<KnownOrders> {
    const { unit } = this.db;
    let rows = await unit.query<Row>(IN_FORCE, [workspaceId]);
    if (!rows[0]!.isWhole) {
      const whole = scopeSettings({ workspaceId, teamIds: 'all' });
      const inForce = { text: IN_FORCE, values: [workspaceId] };
      [, rows] = (await unit.batch([whole, inForce, scopeSettings(unit.scope)])) as [unknown, Row[]];
    }
    const { epoch } = rows[0]!;
    const orders = rows.flatMap(({ epoch: _epoch, isWhole: _isWhole, standingOrderId, ...order }) =>
      standingOrderId === null ? [] : [storableOrder({ standingOrderId, ...order })],
    );
    const characters = orders.reduce((sum, order) => sum + JSON.stringify(order).length, 0);
    const read = { epoch, orders, characters, ofTeams: new Map() };
    this.keep(workspaceId, read);
    return read;
  }

  private keep(workspaceId: string, read: KnownOrders): void {
    this.#characters += read.characters - this.known(workspaceId).characters;
    this.#known.delete(workspaceId);
    this.#known.set(workspaceId, read);
    // Those that were read longest ago are the first to go.
    for (const [oldest, { characters }] of this.#known) {
      if (this.#characters <= CAPACITY) break;
      this.#known.delete(oldest);
      this.#characters -= characters;
    }
  }
}
