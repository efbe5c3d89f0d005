import type { DecisionOrder, OrderUsage } from './decision-input.js';
import { isNearlySpent, sumOf } from './limits.js';
import { type Use, UsesOfOrder } from './uses-of-order.js';

/** What an order has let through so far. */
export interface UsageOfOrder extends Pick<OrderUsage, 'lastHour' | 'lastDay' | 'budgetSpent'> {
  standingOrderId: string;
  /** By currency: a limit on amounts holds for each currency by itself. */
  amountsToday: Record<string, number>;
  /** Whether somebody has been warned in this window that the budget is nearly spent. */
  warned: boolean;
  /** False where its counters are of other windows, and have to be settled before the next use is counted. */
  isSettled: boolean;
}

/** What a work packet has used up of an order by an earlier decision. */
export interface FormerUse extends Use {
  standingOrderId: string;
}

/** What orders have let through, while several work packets are decided one after the other. */
export class Usages {
  readonly #byOrder: Map<string, UsageOfOrder>;

  constructor(rows: readonly UsageOfOrder[]) {
    this.#byOrder = new Map(rows.map((row) => [row.standingOrderId, row]));
  }

  /** The orders whose counters have to be settled. */
  get unsettled(): string[] {
    return [...this.#byOrder.values()].flatMap((row) => (row.isSettled ? [] : [row.standingOrderId]));
  }

  /** As a decision about a work packet in this currency takes it. */
  in(currency: string | null): Record<string, OrderUsage> {
    return Object.fromEntries(
      [...this.#byOrder].map(([id, { lastHour, lastDay, budgetSpent, amountsToday }]) => {
        const amountToday = (currency !== null && amountsToday[currency]) || 0;
        return [id, { lastHour, lastDay, budgetSpent, amountToday }];
      }),
    );
  }

  /**
   * Notes that somebody is warned of the budget; false when somebody was in this window already, and nothing that was given back
   * since has brought it below where it warns.
   */
  warn({ standingOrderId, budget }: Pick<DecisionOrder, 'standingOrderId' | 'budget'>): boolean {
    const usage = this.#byOrder.get(standingOrderId);
    if (!usage || !budget || (usage.warned && isNearlySpent(budget, usage.budgetSpent))) return false;
    usage.warned = true;
    return true;
  }

  /** The order lets a work packet through by this decision. */
  add({ standingOrderId, budget }: DecisionOrder, { amount, currency }: Use): void {
    const spent = budget?.currency === currency ? amount : 0;
    this.change(standingOrderId, currency, {
      lastHour: 1,
      lastDay: 1,
      amountToday: amount,
      budgetSpent: spent,
    });
  }

  /** Takes a former use of the work packet that is decided out of what its order has let through. */
  discount(order: DecisionOrder, former: Use, moment: { at: number; timezone: string }): void {
    const { currency } = former;
    const own = new UsesOfOrder();
    own.add(former);
    const { lastHour, lastDay, amountToday, budgetSpent } = own.usage(order, { ...moment, currency });
    this.change(order.standingOrderId, currency, {
      lastHour: -lastHour,
      lastDay: -lastDay,
      amountToday: -amountToday,
      budgetSpent: -budgetSpent,
    });
  }

  private change(standingOrderId: string, currency: string | null, by: OrderUsage): void {
    const usage = this.#byOrder.get(standingOrderId);
    if (!usage) return;
    usage.lastHour += by.lastHour;
    usage.lastDay += by.lastDay;
    usage.budgetSpent = sumOf(usage.budgetSpent, by.budgetSpent);
    if (currency === null) return;
    usage.amountsToday[currency] = sumOf(usage.amountsToday[currency] ?? 0, by.amountToday);
  }
}
