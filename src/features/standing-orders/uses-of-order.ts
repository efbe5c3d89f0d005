import type { DecisionOrder, OrderUsage } from './decision-input.js';
import { isNearlySpent, sumOf } from './limits.js';
import type { BudgetWindow } from './standing-order.js';
import { endOfWindow, startOfWindow } from './windows.js';

/** A work packet that an order has let through. */
export interface Use {
  at: number;
  /** The money that it carries, without its sign. */
  amount: number;
  currency: string | null;
}

/** What a decision asks for. */
interface Asked {
  at: number;
  /** The zone in which days, weeks and months begin. */
  timezone: string;
  /** That of the work packet. */
  currency: string | null;
}

type Limited = Pick<DecisionOrder, 'limits' | 'budget'>;

/** A day, week or month, and what was spent in it in one currency. */
interface Window {
  since: number;
  until: number;
  currency: string;
  spent: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Every midnight of every zone begins a quarter of an hour. */
const QUARTER_MS = HOUR_MS / 4;
/** Longer than every month. */
const LONGEST_WINDOW_MS = 33 * DAY_MS;

/**
 * The uses of one order as decisions count them, which app.order_usage does in the database: a number for the last hour and the
 * last day, and sums for calendar windows. They come in the sequence of their times. Of what is older than a day only sums by
 * currency and quarter of an hour are kept.
 */
export class UsesOfOrder {
  /** Of the last day, oldest first. */
  #times: number[] = [];
  #quarters: { begins: number; currency: string; amount: number }[] = [];
  readonly #windows = new Map<string, Window>();

  add({ at, amount, currency }: Use): void {
    this.#times.push(at);
    this.forgetBefore(at);
    if (currency === null || amount === 0) return;
    const begins = Math.floor(at / QUARTER_MS) * QUARTER_MS;
    const quarter = this.#quarters.findLast((one) => one.begins <= begins && one.currency === currency);
    if (quarter?.begins === begins) quarter.amount = sumOf(quarter.amount, amount);
    else this.#quarters.push({ begins, currency, amount });
    this.addToWindows(at, currency, amount);
  }

  /** Its work packet certainly was not sent. */
  giveBack({ at, amount, currency }: Use): void {
    const index = firstFrom(this.#times, at);
    if (this.#times[index] === at) this.#times.splice(index, 1);
    if (currency === null) return;
    const quarter = this.#quarters.findLast(
      (one) => one.begins <= at && at < one.begins + QUARTER_MS && one.currency === currency,
    );
    if (quarter) quarter.amount = sumOf(quarter.amount, -amount);
    this.addToWindows(at, currency, -amount);
  }

  /** What counts for the limits and the budget of the order; 0 where it has none. */
  usage({ limits, budget }: Limited, { at, timezone, currency }: Asked): OrderUsage {
    const since = (ms: number) => this.#times.length - firstFrom(this.#times, at - ms + 1);
    const spent = (unit: BudgetWindow, of: string) =>
      this.windowOf(unit, { at, timezone, currency: of }).spent;
    return {
      lastHour: isLimit(limits?.maxPerHour) ? since(HOUR_MS) : 0,
      lastDay: isLimit(limits?.maxPerDay) ? since(DAY_MS) : 0,
      amountToday: isLimit(limits?.maxAmountPerDay) && currency !== null ? spent('day', currency) : 0,
      budgetSpent: budget ? spent(budget.window, budget.currency) : 0,
    };
  }

  private windowOf(unit: BudgetWindow, { at, timezone, currency }: Asked & { currency: string }): Window {
    const key = `${unit} ${timezone} ${currency}`;
    const known = this.#windows.get(key);
    if (known && known.since <= at && at < known.until) return known;
    const since = startOfWindow(unit, at, timezone);
    const quarters = this.#quarters.filter((one) => one.begins >= since && one.currency === currency);
    const spent = quarters.reduce((sum, { amount }) => sumOf(sum, amount), 0);
    const window = { since, until: endOfWindow(unit, at, timezone), currency, spent };
    this.#windows.set(key, window);
    return window;
  }

  private addToWindows(at: number, currency: string, amount: number): void {
    for (const window of this.#windows.values()) {
      const isIn = window.currency === currency && window.since <= at && at < window.until;
      if (isIn) window.spent = sumOf(window.spent, amount);
    }
  }

  private forgetBefore(at: number): void {
    const old = firstFrom(this.#times, at - DAY_MS + 1);
    if (old > 1_000 && old * 2 > this.#times.length) this.#times = this.#times.slice(old);
    if (this.#quarters[0] && this.#quarters[0].begins < at - 2 * LONGEST_WINDOW_MS) {
      this.#quarters = this.#quarters.filter(({ begins }) => begins >= at - LONGEST_WINDOW_MS);
    }
  }
}

/** The money that a work packet moves counts, whichever way it goes. */
export function useOf(
  { amount, currency }: { amount: number | null; currency: string | null },
  at: number,
): Use {
  return { at, amount: Math.abs(amount ?? 0), currency };
}

function isLimit(limit: number | null | undefined): boolean {
  return limit !== null && limit !== undefined;
}

/** The first time that is not before `from`. */
function firstFrom(times: readonly number[], from: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

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
