import type { OrderUsage } from '../decision-input.js';
import type { StandingOrderRule } from '../standing-order.js';
import { CalendarWindow } from './calendar-window.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** What a work packet uses up. */
interface Use {
  amount: number | null;
  currency: string | null;
}

/**
 * What one order would have let through, counted as app.order_usage counts what it did: the last hour and day, the amounts
 * of the day by currency, and the window of the budget. Times come in the sequence of the decisions. Only what a limit of the order
 * asks for is kept, and of that no more than the limit lets through, however long the history is.
 */
export class UsageWindows {
  readonly #hour: SlidingWindow | undefined;
  readonly #day: SlidingWindow | undefined;
  readonly #today: CalendarWindow;
  #amounts = new Map<string, number>();
  readonly #budget: { currency: string; window: CalendarWindow } | undefined;
  #spent = 0;

  constructor({ limits, budget }: Pick<StandingOrderRule, 'limits' | 'budget'>, zone: string) {
    this.#hour = isLimit(limits?.maxPerHour) ? new SlidingWindow(HOUR_MS) : undefined;
    this.#day = isLimit(limits?.maxPerDay) ? new SlidingWindow(DAY_MS) : undefined;
    this.#today = new CalendarWindow('day', zone);
    this.#budget = budget
      ? { currency: budget.currency, window: new CalendarWindow(budget.window, zone) }
      : undefined;
  }

  /** What counts for a work packet in this currency at this time. */
  before(at: number, currency: string | null): OrderUsage {
    this.moveTo(at);
    return {
      lastHour: this.#hour?.countSince(at) ?? 0,
      lastDay: this.#day?.countSince(at) ?? 0,
      amountToday: currency === null ? 0 : (this.#amounts.get(currency) ?? 0),
      budgetSpent: this.#spent,
    };
  }

  /** Counts a work packet that the order let through. */
  count(at: number, { amount, currency }: Use): void {
    this.moveTo(at);
    this.#hour?.add(at);
    this.#day?.add(at);
    if (currency === null) return;
    const moved = Math.abs(amount ?? 0);
    this.#amounts.set(currency, sum(this.#amounts.get(currency) ?? 0, moved));
    if (this.#budget?.currency === currency) this.#spent = sum(this.#spent, moved);
  }

  private moveTo(at: number): void {
    if (this.#today.moveTo(at)) this.#amounts = new Map();
    if (this.#budget?.window.moveTo(at)) this.#spent = 0;
  }
}

function isLimit(limit: number | null | undefined): boolean {
  return limit !== null && limit !== undefined;
}

/** To four decimals, the most any currency has: so the database adds them up. */
function sum(a: number, b: number): number {
  return Number((a + b).toFixed(4));
}

/** How many times lie within the last so many milliseconds. */
class SlidingWindow {
  /** Oldest first; those before `#first` have left the window. */
  #times: number[] = [];
  #first = 0;

  constructor(private readonly lengthMs: number) {}

  add(at: number): void {
    this.#times.push(at);
  }

  countSince(at: number): number {
    while (this.#first < this.#times.length && this.#times[this.#first]! <= at - this.lengthMs) this.#first++;
    if (this.#first > 1_000 && this.#first * 2 > this.#times.length) {
      this.#times = this.#times.slice(this.#first);
      this.#first = 0;
    }
    return this.#times.length - this.#first;
  }
}
