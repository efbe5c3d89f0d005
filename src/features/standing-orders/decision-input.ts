import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import type { Id } from '../../platform/kernel/ids.js';
import type { CapoRole, GuardianMode, Priority, Reversibility } from '../terms/terms.js';
import type { Presence, StandingOrderRule, StandingOrderStatus } from './standing-order.js';

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

export interface DecidedPacket {
  /** Null in a preflight, where there is no packet yet. */
  workPacketId: Id<'pkt'> | null;
  capo: CapoRole;
  engine: string;
  teamId: Id<'team'> | null;
  priority: Priority;
  actionType: string;
  reversibility: Reversibility;
  target: string | null;
  params: { [key: string]: Json };
  /** How many people or systems it reaches. */
  recipients: number;
  /** Null: no money moves. */
  amount: number | null;
  currency: string | null;
}

export interface DecisionOrder extends StandingOrderRule {
  standingOrderId: Id<'so'>;
  version: number;
  hash: string;
  name: string;
  status: StandingOrderStatus;
}

/** What has gone through under one order before this work packet. */
export interface OrderUsage {
  lastHour: number;
  lastDay: number;
  /** In the currency of the work packet. */
  amountToday: number;
  /** In the currency of the budget, within its window. */
  budgetSpent: number;
}

/**
 * Everything a decision depends on, as one JSON value, stored with the decision: whoever has it can compute the
 * decision again, now or with other orders in a simulation.
 */
export interface DecisionInput {
  /** Unix milliseconds. */
  at: number;
  presence: Presence;
  guardian: { mode: GuardianMode; epoch: number };
  packet: DecidedPacket;
  orders: readonly DecisionOrder[];
  /** By standing order id. An order that has let nothing through has no entry. */
  usage: Readonly<Record<string, OrderUsage>>;
}

/** Twice what a request body may hold (CONTRACT section 1), and far below what would exhaust the stack. */
const MAX_DEPTH = 64;

/** The canonical text of each order that has its stored form. Such an order is frozen, so its text stays its text. */
const canonicalTexts = new WeakMap<DecisionOrder, string>();

/**
 * The input as a JSON column gives it back, with the orders in one order. Decisions are made on this form, and this
 * form is what to store: what a database or RFC 8785 refuses (NUL, lone surrogates, 1e400, endless nesting) may come
 * out of a model at any time, and must neither stop the decision nor make it come out differently the second time.
 */
export function storable({ orders, ...rest }: DecisionInput): DecisionInput {
  return {
    ...(storableJson(rest, 0) as unknown as Omit<DecisionInput, 'orders'>),
    orders: orders.map(storableOrder).toSorted((a, b) => (sortKeyOf(a) < sortKeyOf(b) ? -1 : 1)),
  };
}

/** {@link storable} of one order; an order that has that form already is answered as it is. */
export function storableOrder(order: DecisionOrder): DecisionOrder {
  if (canonicalTexts.has(order)) return order;
  // Two levels are those of the input around it.
  const stored = frozen(storableJson(order, 2)) as unknown as DecisionOrder;
  canonicalTexts.set(stored, canonicalJson(stored));
  return stored;
}

/** SHA-256 of the RFC 8785 text; the same for the same facts, in whatever sequence the orders came. */
export function hashOf(stored: DecisionInput): string {
  // RFC 8785 sorts the keys and writes each value by itself, so the texts of the orders can be put in as they are.
  const members = Object.entries(stored).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const text = members.map(([key, value]) => {
    const written = key === 'orders' ? `[${stored.orders.map(canonicalOf).join(',')}]` : canonicalJson(value);
    return `${JSON.stringify(key)}:${written}`;
  });
  return sha256(`{${text.join(',')}}`);
}

function canonicalOf(order: DecisionOrder): string {
  return canonicalTexts.get(order) ?? canonicalJson(order);
}

function sortKeyOf(order: DecisionOrder): string {
  return `${order.standingOrderId} ${canonicalOf(order)}`;
}

function frozen(value: Json): Json {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) frozen(member);
    Object.freeze(value);
  }
  return value;
}

function storableJson(value: unknown, depth: number): Json {
  if (typeof value === 'string') return storableText(value);
  if (typeof value === 'number') return storableNumber(value);
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'object' || value === null || depth === MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((element) => storableJson(element, depth + 1));
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(
    entries.map(([key, member]) => [storableText(key), storableJson(member, depth + 1)]),
  );
}

function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** What is no finite number counts as the largest, never as none, so that it is over every limit. */
function storableNumber(value: number): number {
  if (Number.isFinite(value)) return value;
  return value === -Infinity ? -Number.MAX_VALUE : Number.MAX_VALUE;
}
