import type { DecidedPacket, DecisionOrder, OrderUsage } from './decision-input.js';

/** What an order has let through so far. */
export interface UsageOfOrder extends Pick<OrderUsage, 'lastHour' | 'lastDay' | 'budgetSpent'> {
  standingOrderId: string;
  /** By currency: a limit on amounts holds for each currency by itself. */
  amountsToday: Record<string, number>;
  /** Whether somebody has been warned already that the budget of this window is nearly spent. */
  warned: boolean;
}

/** What a work packet has used up of an order already, and in which of the order's windows that still counts. */
export interface FormerUse {
  standingOrderId: string;
  amount: number;
  currency: string | null;
  spent: number;
  inHour: boolean;
  inDay: boolean;
  today: boolean;
  inBudgetWindow: boolean;
}

/** What one order counts of a work packet that it lets through. */
export interface NewUse {
  standingOrderId: string;
  workPacketId: string;
  at: number;
  /** The money that it carries, without its sign. */
  amount: number;
  currency: string | null;
  /** What of it the order's budget pays. */
  spent: number;
}

/** What each of these orders counts of the work packet. */
export function usesOf(
  orders: readonly DecisionOrder[],
  { workPacketId, amount: moved, currency }: Pick<DecidedPacket, 'workPacketId' | 'amount' | 'currency'>,
  at: number,
): NewUse[] {
  const amount = Math.abs(moved ?? 0);
  return orders.map(({ standingOrderId, budget }) => {
    const spent = currency !== null && budget?.currency === currency ? amount : 0;
    return { standingOrderId, workPacketId: workPacketId!, at, amount, currency, spent };
  });
}

/** What orders have let through, while several work packets are decided one after the other. */
export class Usages {
  readonly #byOrder: Map<string, UsageOfOrder>;

  constructor(rows: readonly UsageOfOrder[]) {
    this.#byOrder = new Map(rows.map((row) => [row.standingOrderId, row]));
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

  /** Notes that somebody is warned of the budget; false when somebody was in this window. */
  warn(standingOrderId: string): boolean {
    const usage = this.#byOrder.get(standingOrderId);
    if (!usage || usage.warned) return false;
    usage.warned = true;
    return true;
  }

  add({ standingOrderId, amount, currency, spent }: NewUse): void {
    const usage = this.#byOrder.get(standingOrderId);
    if (!usage) return;
    usage.lastHour++;
    usage.lastDay++;
    usage.budgetSpent += spent;
    if (currency !== null) usage.amountsToday[currency] = (usage.amountsToday[currency] ?? 0) + amount;
  }

  /** Takes a former use of the work packet that is decided out of what its order has let through. */
  discount({ standingOrderId, ...former }: FormerUse): void {
    const usage = this.#byOrder.get(standingOrderId);
    if (!usage) return;
    const { amount, currency, spent, inHour, inDay, today, inBudgetWindow } = former;
    if (inHour) usage.lastHour--;
    if (inDay) usage.lastDay--;
    if (inBudgetWindow) usage.budgetSpent = less(usage.budgetSpent, spent);
    if (today && currency !== null) {
      usage.amountsToday[currency] = less(usage.amountsToday[currency] ?? 0, amount);
    }
  }
}

/** To four decimals, the most any currency has. */
function less(sum: number, amount: number): number {
  return Math.max(0, Number((sum - amount).toFixed(4)));
}
