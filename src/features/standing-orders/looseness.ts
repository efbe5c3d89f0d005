import { hasRole } from '../../platform/auth/caller.js';
import { canonicalJson } from '../../platform/kernel/canonical-json.js';
import { isToolPattern, namesAction } from '../terms/index.js';
import { APPROVAL_LASTS_MINUTES } from './evaluate.js';
import { canonicalDomain } from './match.js';
import {
  type FieldCondition,
  type OrderApproval,
  type OrderApprovers,
  type OrderBudget,
  type OrderLimits,
  type OrderWhen,
  restrains,
  type StandingOrderRule,
  strictness,
  tightens,
} from './standing-order.js';

/**
 * True when the inner rule certainly applies to no work packet, and at no time, that the outer one does not, in a team that
 * both are for. It compares what the rules say, so it may answer false where it would take more to tell.
 */
export function isWithin(inner: StandingOrderRule, outer: StandingOrderRule): boolean {
  const { match: a } = inner;
  const { match: b } = outer;
  return (
    isSubset(inner.capos, outer.capos) &&
    areTypesWithin(inner, outer) &&
    isSubset(a.agents, b.agents) &&
    isSubset(a.reversibility, b.reversibility) &&
    isSubset(a.priorities, b.priorities) &&
    Object.entries(b.fields ?? {}).every(([path, condition]) => {
      const own = a.fields && Object.hasOwn(a.fields, path) ? a.fields[path] : undefined;
      return own !== undefined && isNarrower(own, condition);
    }) &&
    isWhenWithin(inner.when, outer.when) &&
    (inner.expiresAt ?? Infinity) <= (outer.expiresAt ?? Infinity)
  );
}

/** An order that allows or throttles without naming types is not about the tools of agents from outside; any other is. */
function areTypesWithin(inner: StandingOrderRule, outer: StandingOrderRule): boolean {
  const [a, b] = [inner.match.actionTypes, outer.match.actionTypes];
  const coversTools = (effect: StandingOrderRule['effect']) =>
    effect === 'deny' || effect === 'require_approval';
  if (!b) return coversTools(outer.effect) || (a ? !a.some(isToolPattern) : !coversTools(inner.effect));
  return (
    Boolean(a) && a!.every((type) => b.some((pattern) => pattern === type || namesAction(pattern, type)))
  );
}

/** Null stands for everything. */
function isSubset<T>(
  inner: readonly T[] | null | undefined,
  outer: readonly T[] | null | undefined,
): boolean {
  if (!outer) return true;
  return Boolean(inner) && inner!.every((element) => outer.includes(element));
}

/** What satisfies the inner condition satisfies the outer one. */
function isNarrower(inner: FieldCondition, outer: FieldCondition): boolean {
  return Object.entries(outer).every(([operator, operand]) =>
    implies(inner, operator as keyof FieldCondition, operand),
  );
}

function implies(inner: FieldCondition, operator: keyof FieldCondition, operand: unknown): boolean {
  if (Object.hasOwn(inner, operator) && canonicalJson([inner[operator]]) === canonicalJson([operand])) {
    return true;
  }
  const values = valuesOf(inner);
  switch (operator) {
    case '$exists':
      // Every other comparison needs a value.
      return operand === true && Object.keys(inner).some((each) => each !== '$exists');
    case '$domainIn':
      return inner.$domainIn !== undefined && isSubset(domainsOf(inner.$domainIn), domainsOf(operand));
    case '$in':
      return values !== undefined && isSubset(values, operand as unknown[]);
    case '$nin':
      return inner.$nin !== undefined && isSubset(operand as unknown[], inner.$nin as unknown[]);
    case '$lte':
      return upperBound(inner, values) <= (operand as number);
    case '$lt':
      return upperBound(inner, values) < (operand as number) || isAtMost(inner.$lt, operand);
    case '$gte':
      return lowerBound(inner, values) >= (operand as number);
    case '$gt':
      return lowerBound(inner, values) > (operand as number) || isAtMost(operand, inner.$gt);
    default:
      return false;
  }
}

/** The only values that satisfy the condition, where it lists them. */
function valuesOf({ $eq, $in }: FieldCondition): readonly unknown[] | undefined {
  return $eq === undefined ? $in : [$eq];
}

function upperBound({ $lte, $lt }: FieldCondition, values: readonly unknown[] | undefined): number {
  return Math.min($lte ?? Infinity, $lt ?? Infinity, boundOf(values, Math.max, Infinity));
}

function lowerBound({ $gte, $gt }: FieldCondition, values: readonly unknown[] | undefined): number {
  return Math.max($gte ?? -Infinity, $gt ?? -Infinity, boundOf(values, Math.min, -Infinity));
}

function boundOf(
  values: readonly unknown[] | undefined,
  furthest: (...values: number[]) => number,
  none: number,
): number {
  const numbers = values?.filter((value) => typeof value === 'number') ?? [];
  return numbers.length > 0 && numbers.length === values!.length ? furthest(...numbers) : none;
}

function isAtMost(lower: unknown, upper: unknown): boolean {
  return typeof lower === 'number' && typeof upper === 'number' && lower <= upper;
}

/** What is no domain matches nothing. */
function domainsOf(operand: unknown): string[] {
  return (operand as string[]).flatMap((domain) => canonicalDomain(domain) ?? []);
}

function isWhenWithin(inner: OrderWhen | null, outer: OrderWhen | null): boolean {
  if (!outer) return true;
  if (!isSubset(inner?.presence, outer.presence)) return false;
  if (!outer.days && !outer.from && !outer.to) return true;
  // Windows over midnight and zones make a comparison of different hours hard to see through.
  return (
    (inner?.timezone ?? null) === (outer.timezone ?? null) &&
    (inner?.from ?? null) === (outer.from ?? null) &&
    (inner?.to ?? null) === (outer.to ?? null) &&
    isSubset(inner?.days, outer.days)
  );
}

/**
 * True when the next rule certainly lets nothing through that the former one did not, whatever other orders there are. It
 * compares what the rules say and not what they mean, so it may answer false for a rule that is in fact no looser; then
 * somebody with more rights is asked, which is the safe mistake.
 */
export function isNoLooser(former: StandingOrderRule, next: StandingOrderRule): boolean {
  if (former.teamId !== next.teamId || strictness(next.effect) < strictness(former.effect)) return false;
  if (tightens(former)) {
    const keepsTerms = !loosensTerms(next) || isWithin(next, former);
    return keepsTerms && isWithin(former, next) && restrainsAsMuch(former, next);
  }
  // Its limits, budget and terms bind every work packet that it matches, also where another order allows it.
  const keepsTerms =
    !restrains(former) ||
    (isWithin(former, next) && (next.effect === 'deny' || restrainsAsMuch(former, next)));
  return keepsTerms && (tightens(next) || isWithin(next, former));
}

/** True when its terms of an approval are looser than those that hold without any: whatever it matches gets them. */
export function loosensTerms({ effect, approval }: Pick<StandingOrderRule, 'effect' | 'approval'>): boolean {
  return effect !== 'deny' && !isApprovalAsStrict(null, approval);
}

function restrainsAsMuch(former: StandingOrderRule, next: StandingOrderRule): boolean {
  if (next.effect === 'deny') return true;
  if (!isApprovalAsStrict(former.approval, next.approval)) return false;
  // Of the budget's consequences only a denial is stricter than asking.
  if (next.effect === 'require_approval') return former.budget?.onExceed !== 'deny';
  // Beyond the limits of an order that allows a person is asked; one that throttles lets the work packet wait instead.
  const asksBeyond = former.effect === next.effect || former.limits === null;
  return (
    asksBeyond && areLimitsAsTight(former.limits, next.limits) && isBudgetAsTight(former.budget, next.budget)
  );
}

function areLimitsAsTight(former: OrderLimits | null, next: OrderLimits | null): boolean {
  return Object.entries(former ?? {}).every(([name, allowed]) => {
    if (allowed === null || allowed === undefined) return true;
    const own = next?.[name as keyof OrderLimits];
    return typeof own === 'number' && own <= allowed;
  });
}

function isBudgetAsTight(former: OrderBudget | null, next: OrderBudget | null): boolean {
  if (!former) return true;
  return (
    next !== null &&
    next.window === former.window &&
    next.currency === former.currency &&
    next.amount <= former.amount &&
    strictness(next.onExceed ?? 'require_approval') >= strictness(former.onExceed ?? 'require_approval')
  );
}

function isApprovalAsStrict(former: OrderApproval | null, next: OrderApproval | null): boolean {
  const minutesOf = (terms: OrderApproval | null) => terms?.expiresInMinutes ?? APPROVAL_LASTS_MINUTES;
  const escalates = next?.onExpiry === 'escalate';
  return (
    minutesOf(next) <= minutesOf(former) &&
    (former?.onExpiry === 'reject'
      ? next?.onExpiry === 'reject'
      : !escalates || former?.onExpiry === 'escalate') &&
    (former?.selfApproval !== false || next?.selfApproval === false) &&
    (next?.quorum ?? 1) >= (former?.quorum ?? 1) &&
    areApproversAsStrict(former?.approvers, next?.approvers)
  );
}

function areApproversAsStrict(former?: OrderApprovers | null, next?: OrderApprovers | null): boolean {
  if (!former) return true;
  const { roles, memberIds } = former;
  return (
    !!next &&
    (next.roles ?? []).every((role) => roles?.some((least) => hasRole(role, least))) &&
    (next.memberIds ?? []).every((memberId) => memberIds?.includes(memberId))
  );
}
