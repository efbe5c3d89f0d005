import type { StandingOrderStatus } from './standing-order.js';
import type { StandingOrderEntity, StandingOrderVersionEntity } from './standing-order.entity.js';

/** Which version of an order was in force at some moment. */
export interface OrderInForceThen {
  standingOrderId: string;
  version: number;
  hash: string;
  status: 'active' | 'shadow';
}

/** What becomes of an order that is not as it was. */
export interface RestoredOrder {
  standingOrderId: string;
  name: string;
  outcome: 'restored' | 'paused' | 'skipped';
  from: OrderState;
  /** Null when it stays as it is. */
  to: OrderState | null;
  /** Why it stays as it is. */
  reason: string | null;
}

interface OrderState {
  version: number;
  status: StandingOrderStatus;
}

export interface FormerVersion extends StandingOrderVersionEntity {
  /** The number of the order's newest version. */
  newest: number;
}

/** One order with what becomes of it, and how its row is written then. */
export interface OrderChange extends RestoredOrder {
  row: StandingOrderEntity | null;
  former: StandingOrderEntity;
  isNewVersion: boolean;
}

const GONE = 'The version that was in force is gone.';
const EXPIRED = 'It has expired meanwhile.';
const MOVED = 'It belongs to another team by now.';
const OWNERS = 'It allows work packets that cannot be undone, so only an owner may put it back.';

/** What is known of the orders that are in force now or were then. */
interface OrdersNowAndThen {
  now: readonly StandingOrderEntity[];
  inForceThen: readonly OrderInForceThen[];
  /** What those said then, by the id of the order. */
  former: ReadonlyMap<string, FormerVersion>;
  /** What speaks against putting an order back, by its id. */
  objections: ReadonlyMap<string, string>;
}

/** Who asks, and when. */
interface Asking {
  at: number;
  /** Only an owner lets orders allow again what cannot be undone. */
  isOwner: boolean;
  /** Whether what an order said then allows something that cannot be undone. */
  allowsIrreversible: (version: FormerVersion) => boolean;
}

/** What becomes of each order so that what was in force is in force again; one that is as it was is left out. */
export function restorationOf(
  { now, inForceThen, former, objections }: OrdersNowAndThen,
  { isOwner, at, allowsIrreversible }: Asking,
): OrderChange[] {
  const byId = new Map(inForceThen.map((order) => [order.standingOrderId, order]));
  return now.flatMap((order): OrderChange[] => {
    const was = byId.get(order.standingOrderId);
    if (!was) return hasExpired(order, at) ? [] : [paused(order, at)];
    const version = former.get(order.standingOrderId);
    if (!version) return [skipped(order, GONE)];
    if (saysTheSame(order, version) && order.status === was.status) return [];
    if (version.teamId !== order.teamId) return [skipped(order, MOVED)];
    const objection = objections.get(order.standingOrderId);
    if (objection !== undefined) return [skipped(order, objection)];
    if (hasExpired(version, at)) return [skipped(order, EXPIRED)];
    const isOwners = was.status === 'active' && allowsIrreversible(version);
    if (isOwners && !isOwner) return [skipped(order, OWNERS)];
    return [restored(order, { ...version, status: was.status }, at)];
  });
}

function hasExpired({ expiresAt }: Pick<StandingOrderEntity, 'expiresAt'>, at: number): boolean {
  return expiresAt !== null && expiresAt <= at;
}

/** The hash is that of the rule alone. */
function saysTheSame(order: StandingOrderEntity, { hash, name, text }: FormerVersion): boolean {
  return order.hash === hash && order.name === name && order.text === text;
}

function restored(
  order: StandingOrderEntity,
  version: FormerVersion & { status: 'active' | 'shadow' },
  at: number,
): OrderChange {
  const { newest, createdBy: _createdBy, createdAt: _createdAt, ...content } = version;
  const isNewVersion = !saysTheSame(order, version);
  const row: StandingOrderEntity = {
    ...order,
    ...content,
    version: isNewVersion ? newest + 1 : order.version,
    ...(isNewVersion && { simulation: null, evalRunId: null }),
    heldBecause: null,
    updatedAt: at,
    activatedAt: at,
  };
  return {
    ...namesOf(order),
    former: order,
    outcome: 'restored',
    to: stateOf(row),
    reason: null,
    row,
    isNewVersion,
  };
}

function paused(order: StandingOrderEntity, at: number): OrderChange {
  const row: StandingOrderEntity = { ...order, status: 'paused', updatedAt: at };
  return {
    ...namesOf(order),
    former: order,
    outcome: 'paused',
    to: stateOf(row),
    reason: null,
    row,
    isNewVersion: false,
  };
}

function skipped(order: StandingOrderEntity, reason: string): OrderChange {
  return {
    ...namesOf(order),
    former: order,
    outcome: 'skipped',
    to: null,
    reason,
    row: null,
    isNewVersion: false,
  };
}

function namesOf(order: StandingOrderEntity) {
  return { standingOrderId: order.standingOrderId, name: order.name, from: stateOf(order) };
}

function stateOf({ version, status }: StandingOrderEntity): OrderState {
  return { version, status };
}
