import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import type { ReceiptContent } from '../../platform/receipts/receipt.js';
import { type DecisionOrder, policyOf, storableOrder } from '../standing-orders/decision-input.js';
import type { StandingOrderRule, StandingOrderStatus } from '../standing-orders/standing-order.js';

/** The orders that a decision named, and whether they were all that was in force for its team. */
export interface OrdersOfPolicy {
  orders: readonly DecisionOrder[];
  /** False where earlier versions of the program looked at the orders that deny alone: for what a person had approved. */
  isWhole: boolean;
}

/** One version of an order. */
interface Version {
  hash: string;
  name: string;
  rule: StandingOrderRule;
}

/** What a receipt of an order tells; the rule stands in the first of each version. */
interface ToldOrder extends Version {
  version: number;
  status: StandingOrderStatus;
}

/** How an order stands; without a version when the receipt that tells it is missing. */
interface State {
  number: number;
  status: StandingOrderStatus;
  version: Version | undefined;
}

/** The orders of the workspace as they were for a while. */
interface Period {
  /** In force, of every team; undefined where a receipt is missing that would tell one. */
  orders: readonly DecisionOrder[] | undefined;
  /** Unix milliseconds; of the receipt that ended it. */
  endedAt: number;
  ofTeams: Map<string | null, { orders: readonly DecisionOrder[]; until: number }>;
}

/** A decision that was being made while an order changed may be written behind the change. */
const OVERLAP_MS = 60_000;
const MAX_PERIODS = 1_000;

/** Which versions of which orders were in force, from the receipts of orders alone. */
export class OrderHistory {
  readonly #versions = new Map<string, Map<number, Version>>();
  readonly #states = new Map<string, State>();
  /** The last is the present one. */
  readonly #periods: Period[] = [];
  #isWhole = true;

  constructor() {
    this.begin();
  }

  /** Receipts are missing, perhaps of orders. */
  incomplete(): void {
    this.#isWhole = false;
  }

  /** A receipt of an order; false when its hash is not that of the rule that it tells. */
  receipt({ at, entity, details }: ReceiptContent): boolean {
    const { version: number, status, hash, name, rule } = details as Partial<ToldOrder>;
    if (typeof number !== 'number' || typeof status !== 'string' || typeof hash !== 'string') return true;
    const standingOrderId = entity.id;
    const versions = this.#versions.get(standingOrderId) ?? new Map<number, Version>();
    this.#versions.set(standingOrderId, versions);
    let isSound = true;
    if (typeof rule?.match === 'object' && rule.match !== null) {
      isSound = sha256(canonicalJson(rule)) === hash;
      versions.set(number, { hash, rule, name: name ?? '' });
    }
    this.#states.set(standingOrderId, { number, status, version: versions.get(number) });
    this.#periods.at(-1)!.endedAt = at;
    this.begin();
    this.forget(at);
    return isSound;
  }

  /**
   * The orders of the policy that a decision for this team names; undefined for a policy that was not in force then.
   * `unknown` where that cannot be told, since receipts of orders are missing. `mayDenyOnly`: the decision may have looked at
   * the orders that deny alone.
   */
  policy(
    hash: string,
    { teamId, at, mayDenyOnly }: { teamId: string | null; at: number; mayDenyOnly: boolean },
  ): OrdersOfPolicy | undefined | 'unknown' {
    for (const period of this.#periods.toReversed()) {
      if (!period.orders) return 'unknown';
      // What ended long before the decision was no longer in force for it.
      if (period.endedAt < at - OVERLAP_MS) break;
      const orders = ofTeam(period, teamId, at);
      if (policyOf(orders).hash === hash) return { orders, isWhole: true };
      if (!mayDenyOnly) continue;
      const denying = orders.filter(({ effect }) => effect === 'deny');
      if (policyOf(denying).hash === hash) return { orders: denying, isWhole: false };
    }
    return this.#isWhole ? undefined : 'unknown';
  }

  private begin(): void {
    this.#periods.push({ orders: this.inForce(), endedAt: Infinity, ofTeams: new Map() });
  }

  private inForce(): DecisionOrder[] | undefined {
    const orders: DecisionOrder[] = [];
    for (const [standingOrderId, { number, status, version }] of this.#states) {
      if (status !== 'active' && status !== 'shadow') continue;
      if (!version) return undefined;
      const { hash, name, rule } = version;
      const order = { ...rule, standingOrderId, version: number, hash, name, status };
      orders.push(storableOrder(order as DecisionOrder));
    }
    return orders;
  }

  private forget(at: number): void {
    const isOver = (period: Period | undefined) => period !== undefined && period.endedAt < at - OVERLAP_MS;
    while (isOver(this.#periods[0]) || this.#periods.length > MAX_PERIODS) this.#periods.shift();
  }
}

/** A frozen list, so that what is known of its policy is worked out once; until one of its orders expires. */
function ofTeam({ orders, ofTeams }: Period, teamId: string | null, at: number): readonly DecisionOrder[] {
  const former = ofTeams.get(teamId);
  if (former && at < former.until) return former.orders;
  const own = orders!.filter(
    (order) => (order.teamId === null || order.teamId === teamId) && at < (order.expiresAt ?? Infinity),
  );
  const until = Math.min(Infinity, ...own.map(({ expiresAt }) => expiresAt ?? Infinity));
  ofTeams.set(teamId, { orders: Object.freeze(own), until });
  return own;
}
