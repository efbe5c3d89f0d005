import type { Role } from '../../platform/auth/caller.js';
import type { Id } from '../../platform/kernel/ids.js';
import type { CapoRole, Priority, Reversibility } from '../terms/terms.js';

export const EFFECTS = ['allow', 'throttle', 'require_approval', 'deny'] as const;
/** What an order does to a work packet it matches, and what is decided about one. Listed from the least strict. */
export type Effect = (typeof EFFECTS)[number];

/** The more, the stricter. */
export function strictness(effect: Effect): number {
  return EFFECTS.indexOf(effect);
}

/** Undefined where there is none. */
export function strictest(effects: readonly Effect[]): Effect | undefined {
  return EFFECTS.findLast((effect) => effects.includes(effect));
}

export const STANDING_ORDER_STATUSES = ['draft', 'shadow', 'active', 'paused', 'archived'] as const;
export type StandingOrderStatus = (typeof STANDING_ORDER_STATUSES)[number];

export const PRESENCES = ['present', 'away'] as const;
/** Whether the operator is there to be asked. */
export type Presence = (typeof PRESENCES)[number];

/** Monday first, as ISO 8601 counts. */
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

export const BUDGET_WINDOWS = ['day', 'week', 'month'] as const;
export type BudgetWindow = (typeof BUDGET_WINDOWS)[number];

export const ON_EXCEED = ['throttle', 'require_approval', 'deny'] as const satisfies Effect[];
export type OnExceed = (typeof ON_EXCEED)[number];

export const ON_EXPIRY = ['reject', 'escalate'] as const;
export type OnExpiry = (typeof ON_EXPIRY)[number];

type Scalar = string | number | boolean;

/** All operators of a condition must hold; match.ts says what each one means. */
export interface FieldCondition {
  $eq?: Scalar;
  $ne?: Scalar;
  $lt?: number;
  $lte?: number;
  $gt?: number;
  $gte?: number;
  $in?: readonly Scalar[];
  $nin?: readonly Scalar[];
  $exists?: boolean;
  $prefix?: string;
  $suffix?: string;
  $domainIn?: readonly string[];
}

/** Which work packets an order applies to. What is left out, or null, does not narrow it. */
export interface OrderMatch {
  /** Action types, and tools of agents from outside; these also by a prefix, such as `crm.*`. */
  actionTypes?: readonly string[] | null;
  /** Names of agents from outside. */
  agents?: readonly string[] | null;
  reversibility?: readonly Reversibility[] | null;
  priorities?: readonly Priority[] | null;
  fields?: Readonly<Record<string, FieldCondition>> | null;
}

/** When an order applies. A window from 22:00 to 06:00 belongs to the day on which it opens. */
export interface OrderWhen {
  presence?: readonly Presence[] | null;
  days?: readonly Weekday[] | null;
  from?: string | null;
  to?: string | null;
  timezone?: string | null;
}

export interface OrderLimits {
  maxPerHour?: number | null;
  maxPerDay?: number | null;
  /** For each single work packet. */
  maxRecipients?: number | null;
  /** Names no currency, so it holds for each currency by itself. */
  maxAmountPerDay?: number | null;
}

export interface OrderBudget {
  window: BudgetWindow;
  amount: number;
  currency: string;
  warnPercent?: number | null;
  /** Left out: `require_approval`. */
  onExceed?: OnExceed | null;
}

/** The roles that may approve; each has the rights of those before it. */
export const APPROVING_ROLES = ['operator', 'admin', 'owner'] as const satisfies Role[];
export type ApprovingRole = (typeof APPROVING_ROLES)[number];

/** Who may approve: members with one of the roles, or a higher one, and these members. */
export interface OrderApprovers {
  roles?: ApprovingRole[] | null;
  memberIds?: string[] | null;
}

export interface OrderApproval {
  expiresInMinutes?: number | null;
  onExpiry?: OnExpiry | null;
  /** Whether the member who asked may also decide. */
  selfApproval?: boolean | null;
  /** How many people have to approve. Left out: one. */
  quorum?: number | null;
  /** Left out: everybody who may approve. */
  approvers?: OrderApprovers | null;
}

/** The part of a standing order that decides; a new version is made when any of it changes. */
export interface StandingOrderRule {
  /** Null: the whole workspace. */
  teamId: Id<'team'> | null;
  /** Null: every capo. */
  capos: readonly CapoRole[] | null;
  effect: Effect;
  match: OrderMatch;
  when: OrderWhen | null;
  limits: OrderLimits | null;
  budget: OrderBudget | null;
  approval: OrderApproval | null;
  expiresAt: number | null;
}

/** True when the order restrains what other orders allow: its limits, budget and terms bind every packet it matches. */
export function restrains(
  order: Pick<StandingOrderRule, 'effect' | 'limits' | 'budget' | 'approval'>,
): boolean {
  return tightens(order) || order.limits !== null || order.budget !== null || order.approval !== null;
}

/** True for the orders that an operator may write: they take freedom away and never give any. */
export function tightens(order: Pick<StandingOrderRule, 'effect'>): boolean {
  return order.effect !== 'allow';
}

/**
 * True when the order allows something that cannot be undone; only an owner may activate such an order.
 * `classesOf` is the registry of action types, or its part within the engine scope of the order's capos; of a type whose
 * work packets may have several classes the strictest counts, and one that the registry does not know counts as irreversible.
 */
export function relaxesIrreversible(
  order: Pick<StandingOrderRule, 'effect' | 'match'>,
  classesOf: Readonly<Record<string, readonly Reversibility[]>>,
): boolean {
  const { actionTypes, reversibility } = order.match;
  if (tightens(order) || (reversibility && !reversibility.includes('irreversible'))) return false;
  return (actionTypes ?? Object.keys(classesOf)).some(
    (type) => !Object.hasOwn(classesOf, type) || classesOf[type]!.includes('irreversible'),
  );
}
