import type { DecisionOrder, OrderUsage, RecordedPacket } from '../standing-orders/decision-input.js';
import { isKnownZone } from '../../platform/kernel/local-day.js';
import { startOfWindow } from '../standing-orders/windows.js';

/** What one order counted of a work packet that it let through. */
export interface Use {
  at: number;
  workPacketId: string;
  amount: number;
  currency: string | null;
}

/** What was spent in one currency within a stretch of time. */
interface Spent {
  begins: number;
  currency: string;
  amount: number;
}

/** A work packet that the orders released. */
interface Released extends Use {
  endedAt: number;
  /** It waited for its time, or an order or the operator's presence changed before it had ended. */
  mayCountAnew: boolean;
}

/** A decision whose usage is checked. */
export interface CountedDecision {
  at: number;
  /** The zone that the decision names, if it does. */
  timezone: string | undefined;
  order: DecisionOrder;
  packet: RecordedPacket;
  /** What it said was used up. */
  usage: Pick<OrderUsage, Counter>;
  /** What the decisions before it in the same act would use up. */
  pending: readonly Use[];
  /** Made as the packet was about to be sent: what it had used up itself does not count. */
  isAgain: boolean;
}

type Counter = 'lastHour' | 'lastDay' | 'amountToday' | 'budgetSpent';

/** Least and most that an order may have counted. */
interface Bounds {
  least: number;
  most: number;
}

/** When a window began, and how far apart the clocks of those who count in it may be. */
interface Window {
  since: number;
  apart: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const CLOCKS_APART_MS = 5_000;
/** Single uses are kept for as long as a day can be, and what the clocks are apart. */
const KEPT_MS = 26 * HOUR_MS;
/** Every midnight of every zone begins such a stretch. */
const STRETCH_MS = 15 * MINUTE_MS;
/** Longer than every month. */
const LONGEST_WINDOW_MS = 33 * DAY_MS;
/** Amounts have four decimals at the most. */
const ROUNDING = 0.00005;

/**
 * What orders have let through, counted from the decisions in the receipts. A work packet that waits to be sent while a
 * window ends or an order begins is counted anew when it leaves, which no receipt tells. So the count has a least and a
 * most; both are the same where no packet has waited that long.
 */
export class UseHistory {
  /** Of each order, by time. */
  readonly #uses = new Map<string, Use[]>();
  /** What was spent before those, by stretches of time: budgets of a week or a month need no more. */
  readonly #spentBefore = new Map<string, Map<string, Spent>>();
  /** Those that have not ended, and those that waited. */
  readonly #released = new Map<string, Released>();
  /** From then on every use is known. */
  #wholeSince = -Infinity;
  #zone: { name: string; since: number } | undefined;

  /** Uses before then are not all known. */
  incompleteUntil(at: number): void {
    this.#wholeSince = Math.max(this.#wholeSince, at);
  }

  /** The workspace's zone from then on, in which days, weeks and months begin; one that is not known here tells nothing. */
  setZone(name: string, since: number): void {
    this.#zone = isKnownZone(name) ? { name, since } : undefined;
  }

  /** An order or the operator's presence has changed: a packet under way may be counted by another order. */
  change(): void {
    for (const released of this.#released.values()) {
      if (released.endedAt === Infinity) released.mayCountAnew = true;
    }
  }

  /** The standing orders have let this packet go; `waits`: it is counted when it leaves, and not yet. */
  release({ workPacketId, currency, amount }: RecordedPacket, at: number, waits: boolean): void {
    if (workPacketId === null) return;
    const moved = Math.abs(amount ?? 0);
    this.#released.set(workPacketId, {
      workPacketId,
      at,
      amount: moved,
      currency,
      endedAt: Infinity,
      mayCountAnew: waits,
    });
  }

  ended(workPacketId: string, at: number): void {
    const released = this.#released.get(workPacketId);
    if (!released) return;
    released.endedAt = at;
    // Windows begin and end with a minute.
    const first = Math.floor((Math.min(released.at, at) - CLOCKS_APART_MS) / MINUTE_MS);
    const last = Math.floor((Math.max(released.at, at) + CLOCKS_APART_MS) / MINUTE_MS);
    if (first === last && !released.mayCountAnew) this.#released.delete(workPacketId);
  }

  add(standingOrderId: string, use: Use): void {
    const uses = this.#uses.get(standingOrderId) ?? [];
    this.#uses.set(standingOrderId, uses);
    // Two processes may have clocks that are a little apart.
    const before = uses.findLastIndex(({ at }) => at <= use.at);
    uses.splice(before + 1, 0, use);
    this.forget(standingOrderId, uses, use.at);
  }

  /** Of what the decision says was used up, that which cannot have been. */
  wrong(decision: CountedDecision): Counter[] {
    const { order, usage } = decision;
    const counters: Counter[] = ['lastHour', 'lastDay'];
    if (this.zoneOf(decision) !== undefined) {
      if (typeof order.limits?.maxAmountPerDay === 'number') counters.push('amountToday');
      if (order.budget) counters.push('budgetSpent');
    }
    return counters.filter((counter) => {
      const { least, most } = this.bounds(counter, decision);
      return !(usage[counter] > least - ROUNDING && usage[counter] < most + ROUNDING);
    });
  }

  /** The zone by which the decision was made; undefined where that cannot be told. */
  private zoneOf({ at, timezone }: CountedDecision): string | undefined {
    // A decision that was being made while the zone changed may have gone by the former one.
    if (this.#zone && at > this.#zone.since + MINUTE_MS) return this.#zone.name;
    return timezone !== undefined && isKnownZone(timezone) ? timezone : undefined;
  }

  private bounds(counter: Counter, decision: CountedDecision): Bounds {
    const { order, packet, pending, isAgain, usage } = decision;
    const { since, apart } = this.windowOf(counter, decision);
    const uses = this.#uses.get(order.standingOrderId) ?? [];
    const currency = counter === 'budgetSpent' ? (order.budget?.currency ?? null) : packet.currency;
    const worth = (use: Use) => worthOf(counter, use, currency);
    const own = isAgain ? uses.find(({ workPacketId }) => workPacketId === packet.workPacketId) : undefined;
    const usedSince = (from: number) =>
      (counter === 'lastHour' || counter === 'lastDay'
        ? uses.length - firstFrom(uses, from)
        : sum(uses.slice(firstFrom(uses, from)), worth)) -
      (own && own.at >= from ? worth(own) : 0) +
      (counter === 'budgetSpent' ? this.spentSince(order.standingOrderId, currency, from) : 0) +
      sum(pending, worth);

    const longAgo = isAgain && !own ? this.#released.get(packet.workPacketId ?? '') : undefined;
    const perhapsOwn = longAgo && counter === 'budgetSpent' ? longAgo.amount : 0;
    const least = usedSince(since + apart) - perhapsOwn;
    if (since - apart < this.#wholeSince) return { least, most: Infinity };
    const most = usedSince(since - apart);
    if (usage[counter] < most + ROUNDING) return { least, most };
    return { least, most: most + sum(this.perhapsCounted(uses, decision, since - apart), worth) };
  }

  /** Packets that the order may have counted as they left, though not as they were released. */
  private perhapsCounted(uses: readonly Use[], { packet }: CountedDecision, since: number): Use[] {
    const counted = new Set(uses.slice(firstFrom(uses, since)).map(({ workPacketId }) => workPacketId));
    return [...this.#released.values()].filter(
      ({ workPacketId, endedAt }) =>
        endedAt >= since && !counted.has(workPacketId) && workPacketId !== packet.workPacketId,
    );
  }

  private windowOf(counter: Counter, decision: CountedDecision): Window {
    const { at, order } = decision;
    switch (counter) {
      case 'lastHour':
        return { since: at - HOUR_MS + 1, apart: CLOCKS_APART_MS };
      case 'lastDay':
        return { since: at - DAY_MS + 1, apart: CLOCKS_APART_MS };
      case 'amountToday':
        return { since: startOfWindow('day', at, this.zoneOf(decision)!), apart: 0 };
      case 'budgetSpent':
        return { since: startOfWindow(order.budget!.window, at, this.zoneOf(decision)!), apart: 0 };
    }
  }

  private spentSince(standingOrderId: string, currency: string | null, since: number): number {
    const stretches = [...(this.#spentBefore.get(standingOrderId)?.values() ?? [])];
    return sum(stretches, (one) => (one.begins >= since && one.currency === currency ? one.amount : 0));
  }

  private forget(standingOrderId: string, uses: Use[], at: number): void {
    const stretches = this.#spentBefore.get(standingOrderId) ?? new Map<string, Spent>();
    this.#spentBefore.set(standingOrderId, stretches);
    for (const { at: usedAt, amount, currency } of uses.splice(0, firstFrom(uses, at - KEPT_MS))) {
      if (currency === null || amount === 0) continue;
      const begins = Math.floor(usedAt / STRETCH_MS) * STRETCH_MS;
      const key = `${begins} ${currency}`;
      const before = stretches.get(key)?.amount ?? 0;
      stretches.set(key, { begins, currency, amount: before + amount });
    }
    for (const [key, { begins }] of stretches) {
      if (begins > at - LONGEST_WINDOW_MS) break;
      stretches.delete(key);
    }
    for (const [workPacketId, released] of this.#released) {
      // In the order of their release; the first that is still needed keeps those behind it.
      if (released.endedAt > at - LONGEST_WINDOW_MS) break;
      this.#released.delete(workPacketId);
    }
  }
}

/** The first use that is not before `from`. */
function firstFrom(uses: readonly Use[], from: number): number {
  let [low, high] = [0, uses.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (uses[middle]!.at < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

function worthOf(counter: Counter, { amount, currency }: Use, asked: string | null): number {
  if (counter === 'lastHour' || counter === 'lastDay') return 1;
  return currency !== null && currency === asked ? amount : 0;
}

function sum<T>(values: readonly T[], valueOf: (value: T) => number): number {
  return values.reduce((total, value) => total + valueOf(value), 0);
}
