import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import type { ReceiptContent } from '../../platform/receipts/receipt.js';
import { type DecisionOrder, policyOf, storableOrder } from '../standing-orders/decision-input.js';
import { ordersFor, type OrdersOfTeams } from '../standing-orders/orders-for.js';
import type { StandingOrderRule, StandingOrderStatus } from '../standing-orders/standing-order.js';

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

/** The orders of the workspace as they were for a while: in force, of every team; undefined where a receipt is missing that would tell one. */
interface Period {
  orders: readonly DecisionOrder[] | undefined;
  ofTeams: OrdersOfTeams;
}

const MAX_PERIODS = 1_000;

/** Which versions of which orders were in force, from the receipts of orders alone. */
export class OrderHistory {
  readonly #versions = new Map<string, Map<number, Version>>();
  readonly #states = new Map<string, State>();
  /** The last is the present one; a decision that was being made while an order changed is written behind the change. */
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
  receipt({ entity, details }: ReceiptContent): boolean {
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
    this.begin();
    return isSound;
  }

  /**
   * The orders of the policy that a decision for this team names; undefined for a policy that was not in force then.
   * `unknown` where that cannot be told, since receipts of orders are missing. `mayDenyOnly`: the decision may have looked at
   * the orders that deny alone, as earlier versions of the program did for what a person had approved.
   */
  policy(
    hash: string,
    { teamId, at, mayDenyOnly }: { teamId: string | null; at: number; mayDenyOnly: boolean },
  ): readonly DecisionOrder[] | undefined | 'unknown' {
    for (const { orders: inForce, ofTeams } of this.#periods.toReversed()) {
      if (!inForce) return 'unknown';
      const orders = ordersFor({ orders: inForce, ofTeams }, teamId, at);
      if (policyOf(orders).hash === hash) return orders;
      if (!mayDenyOnly) continue;
      const denying = orders.filter(({ effect }) => effect === 'deny');
      if (policyOf(denying).hash === hash) return denying;
    }
    return this.#isWhole ? undefined : 'unknown';
  }

  /** The decisions of a receipt were made. The next one was not being made any more before then: one waits for another. */
  decided(): void {
    this.#periods.splice(0, this.#periods.length - 1);
  }

  private begin(): void {
    this.#periods.push({ orders: this.inForce(), ofTeams: new Map() });
    if (this.#periods.length > MAX_PERIODS) this.#periods.shift();
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
}
