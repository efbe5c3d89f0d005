import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import type { Id } from '../../platform/kernel/ids.js';
import { storable } from '../../platform/kernel/text.js';
import { valueAt } from '../../platform/kernel/value-at.js';
import type { CapoRole, GuardianMode, Priority, Reversibility } from '../terms/terms.js';
import type { Presence, StandingOrderRule, StandingOrderStatus } from './standing-order.js';

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

export interface DecidedPacket {
  /** Of an action request, its id; null in a preflight, where there is neither yet. */
  workPacketId: Id<'pkt' | 'act'> | null;
  /** Null where an agent from outside asks. */
  capo: CapoRole | null;
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
  /** Where an agent from outside asks for an action of its own (CONTRACT section 7). */
  outside?: OutsideFacts;
}

interface OutsideFacts {
  /** As its token names it; null for a member's own token. */
  agent: string | null;
  /** Whether the tool is registered and active, as the agent knows it. */
  isRegistered: boolean;
  /** What of it no order can read: its tool does not say where it stands, or it is not there, or of another type. */
  unread: ('amount' | 'recipients')[];
  /** That of the workspace. */
  currency: string;
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
  /** When there is room again within the limit of the hour, and of the day, where it is used up; Unix milliseconds. */
  hourRoomAt?: number;
  dayRoomAt?: number;
}

/** Everything a decision depends on. */
export interface DecisionInput {
  /** Unix milliseconds. */
  at: number;
  /** The zone in which the days, weeks and months of limits and budgets begin; UTC unless said. */
  timezone?: string;
  presence: Presence;
  guardian: { mode: GuardianMode; epoch: number };
  packet: DecidedPacket;
  orders: readonly DecisionOrder[];
  /** By standing order id. An order that has let nothing through has no entry. */
  usage: Readonly<Record<string, OrderUsage>>;
}

/**
 * A work packet as its decision keeps it: of what it says and to whom, only what an order of the policy asks for, since
 * receipts are read by more people than drafts are.
 */
export interface RecordedPacket extends Omit<DecidedPacket, 'params' | 'target'> {
  /** By path, such as `target` or `params.to`; a path at which there is nothing is left out. */
  fields: { [path: string]: Json };
}

/**
 * The input of a decision as one JSON value, stored with it and in its receipt. With the versions of its
 * policy, anybody can make the decision again.
 */
export interface RecordedInput extends Omit<DecisionInput, 'packet' | 'orders'> {
  packet: RecordedPacket;
  /** The hash of the policy: which versions of which orders were in force. */
  policy: string;
}

/** Names one version of an order, and whether it only watched. */
export type PolicyOrder = Pick<DecisionOrder, 'standingOrderId' | 'version' | 'hash' | 'status'>;

/** The order versions that a decision is made under. */
export interface Policy {
  /** SHA-256 of the canonical JSON of {@link policyOrders}. */
  hash: string;
  orders: readonly DecisionOrder[];
}

interface KnownPolicy extends Policy {
  /** What one of its orders asks for of what a work packet says. */
  paths: readonly string[];
  /** The orders whose usage counts. */
  limited: readonly string[];
}

/** Twice what a request body may hold (CONTRACT section 1), and far below what would exhaust the stack. */
const MAX_DEPTH = 64;
/** Those of the input, the packet and its fields around a value. */
const FIELD_DEPTH = 3;

const storedOrders = new WeakSet<DecisionOrder>();
const policies = new WeakMap<readonly DecisionOrder[], KnownPolicy>();

/** The versions by which a policy is named, in one order. */
export function policyOrders({ orders }: Pick<Policy, 'orders'>): PolicyOrder[] {
  return orders.map(({ standingOrderId, version, hash, status }) => ({
    standingOrderId,
    version,
    hash,
    status,
  }));
}

/** The policy of these orders, in whatever sequence they come. What is known of a frozen list is worked out once. */
export function policyOf(orders: readonly DecisionOrder[]): Policy {
  return knownPolicyOf(orders);
}

function knownPolicyOf(orders: readonly DecisionOrder[]): KnownPolicy {
  const known = policies.get(orders);
  if (known) return known;
  const sorted = orders.map(storableOrder).toSorted(bySortKey);
  const policy = {
    orders: sorted,
    hash: sha256(canonicalJson(policyOrders({ orders: sorted }))),
    paths: [...new Set(sorted.flatMap(({ match }) => Object.keys(match.fields ?? {})))].filter(isOfContent),
    limited: sorted.filter(isLimited).map(({ standingOrderId }) => standingOrderId),
  };
  if (Object.isFrozen(orders)) policies.set(orders, policy);
  policies.set(sorted, policy);
  return policy;
}

/** Whether this path leads into what a work packet says, and not to a fact about it. */
export function isOfContent(path: string): boolean {
  return path === 'target' || path.startsWith('params.');
}

/** Whether what it has let through already counts for what it lets through next. */
export function isLimited({ limits, budget }: Pick<DecisionOrder, 'limits' | 'budget'>): boolean {
  return limits !== null || budget !== null;
}

/**
 * The input as it is stored. Decisions are made on this form: what a database or RFC 8785 refuses (NUL, lone surrogates,
 * 1e400, endless nesting) may come out of a model at any time, and must neither stop the decision nor make it come out
 * differently the second time.
 */
export function recorded(given: DecisionInput): RecordedInput {
  const { at, timezone, presence, guardian, packet, orders, usage } = given;
  const { hash, paths, limited } = knownPolicyOf(orders);
  const { params: _params, target: _target, ...facts } = packet;
  const fields = paths.flatMap((path) => {
    const value = valueAt(packet, path);
    return value === undefined ? [] : [[path, storableJson(value, FIELD_DEPTH)]];
  });
  const used = limited.flatMap((id) => {
    const own = Object.hasOwn(usage, id) ? usage[id] : undefined;
    return own && Object.values(own).some((value) => value !== 0) ? [[id, own]] : [];
  });
  const counted = Object.fromEntries(used);
  const input = { at, timezone, presence, guardian, packet: facts, policy: hash, usage: counted };
  const stored = storableJson(input, 0) as unknown as RecordedInput;
  return { ...stored, packet: { ...stored.packet, fields: Object.fromEntries(fields) } };
}

/** All that a work packet says, and to whom, as a JSON column gives it back. */
export function storableContent({
  target,
  params,
}: Pick<DecidedPacket, 'target' | 'params'>): Pick<DecidedPacket, 'target' | 'params'> {
  return {
    target: target === null ? null : storable(target),
    params: storableJson(params, FIELD_DEPTH - 1) as DecidedPacket['params'],
  };
}

/** The same for one order; an order that has that form already is answered as it is. */
export function storableOrder(order: DecisionOrder): DecisionOrder {
  if (storedOrders.has(order)) return order;
  const stored = frozen(storableJson(order, 2)) as unknown as DecisionOrder;
  storedOrders.add(stored);
  return stored;
}

/** What is decided about, for explanations. */
export function nounOf({ outside }: Pick<RecordedPacket, 'outside'>): 'action' | 'work packet' {
  return outside ? 'action' : 'work packet';
}

/** SHA-256 of the RFC 8785 text; the same for the same facts. */
export function hashOf(stored: RecordedInput): string {
  return sha256(canonicalJson(stored));
}

/** By id; versions of one order, which no workspace has in force together, by what they say. */
function bySortKey(a: DecisionOrder, b: DecisionOrder): number {
  if (a.standingOrderId !== b.standingOrderId) return a.standingOrderId < b.standingOrderId ? -1 : 1;
  return canonicalJson(a) < canonicalJson(b) ? -1 : 1;
}

function frozen(value: Json): Json {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) frozen(member);
    Object.freeze(value);
  }
  return value;
}

function storableJson(value: unknown, depth: number): Json {
  if (typeof value === 'string') return storable(value);
  if (typeof value === 'number') return storableNumber(value);
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'object' || value === null || depth === MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((element) => storableJson(element, depth + 1));
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(entries.map(([key, member]) => [storable(key), storableJson(member, depth + 1)]));
}

/** What is no finite number counts as the largest, never as none, so that it is over every limit. */
function storableNumber(value: number): number {
  if (Number.isFinite(value)) return value;
  return value === -Infinity ? -Number.MAX_VALUE : Number.MAX_VALUE;
}
