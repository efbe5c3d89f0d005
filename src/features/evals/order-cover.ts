import { canonicalJson } from '../../platform/kernel/canonical-json.js';
import { canonicalDomain } from '../standing-orders/domains.js';
import type {
  FieldCondition,
  OrderMatch,
  OrderWhen,
  StandingOrderRule,
} from '../standing-orders/standing-order.js';

/**
 * True when `outer` matches every work packet that `inner` matches, at every time. Only what can be told from the two
 * rules for certain counts: where it cannot, the answer is false.
 */
export function covers(outer: StandingOrderRule, inner: StandingOrderRule): boolean {
  return (
    (outer.teamId === null || outer.teamId === inner.teamId) &&
    isWithin(inner.capos, outer.capos) &&
    coversMatch(outer.match, inner.match) &&
    coversWhen(outer.when, inner.when) &&
    (outer.expiresAt === null || (inner.expiresAt !== null && inner.expiresAt <= outer.expiresAt))
  );
}

/** True when two rules say the same, whatever they are called. */
export function saysTheSame(one: StandingOrderRule, other: StandingOrderRule): boolean {
  return canonicalJson(plain(one)) === canonicalJson(plain(other));
}

function plain({ teamId, capos, effect, match, when, limits, budget, approval }: StandingOrderRule): unknown {
  return {
    teamId,
    capos: sorted(capos),
    effect,
    match: given(match),
    when: given(when),
    limits: given(limits),
    budget: given(budget),
    approval: given(approval),
  };
}

/** Null and left out mean the same. */
function given(value: object | null): unknown {
  const members = Object.entries(value ?? {}).filter(([, member]) => member !== null && member !== undefined);
  return members.length === 0
    ? null
    : Object.fromEntries(
        members.map(([key, member]) => [key, Array.isArray(member) ? sorted(member) : member]),
      );
}

function sorted(list: readonly string[] | null): string[] | null {
  return list === null ? null : list.toSorted();
}

function coversMatch(outer: OrderMatch, inner: OrderMatch): boolean {
  return (
    isWithin(inner.actionTypes, outer.actionTypes) &&
    isWithin(inner.reversibility, outer.reversibility) &&
    isWithin(inner.priorities, outer.priorities) &&
    Object.entries(outer.fields ?? {}).every(([path, condition]) =>
      impliesCondition(inner.fields?.[path], condition),
    )
  );
}

function coversWhen(outer: OrderWhen | null, inner: OrderWhen | null): boolean {
  if (!outer) return true;
  const { presence, ...window } = outer;
  const { presence: innerPresence, ...innerWindow } = inner ?? {};
  const asWindow = given(window);
  return (
    isWithin(innerPresence, presence) &&
    (asWindow === null || canonicalJson(asWindow) === canonicalJson(given(innerWindow) ?? {}))
  );
}

/** Nothing said is everything. */
function isWithin(
  inner: readonly unknown[] | null | undefined,
  outer: readonly unknown[] | null | undefined,
): boolean {
  if (!outer) return true;
  return inner ? inner.every((each) => outer.includes(each)) : false;
}

/** Whatever value satisfies `inner` satisfies `outer`. */
function impliesCondition(inner: FieldCondition | undefined, outer: FieldCondition): boolean {
  if (!inner) return false;
  return Object.entries(outer).every(([operator, operand]) =>
    implies(inner, operator as keyof FieldCondition, operand),
  );
}

function implies(inner: FieldCondition, operator: keyof FieldCondition, operand: unknown): boolean {
  if (Object.hasOwn(inner, operator) && canonicalJson([inner[operator]]) === canonicalJson([operand]))
    return true;
  const values = valuesOf(inner);
  switch (operator) {
    case '$exists':
      // Every other comparison needs a value.
      return operand === true && Object.keys(inner).some((each) => each !== '$exists');
    case '$domainIn':
      return (
        inner.$domainIn !== undefined && isSubset(inner.$domainIn.map(canonicalDomain), domainsOf(operand))
      );
    case '$in':
      return values !== undefined && isSubset(values, operand);
    case '$lte':
    case '$lt':
      return (
        upperBound(inner, values) < (operand as number) ||
        (operator === '$lte' && upperBound(inner, values) === operand)
      );
    case '$gte':
    case '$gt':
      return (
        lowerBound(inner, values) > (operand as number) ||
        (operator === '$gte' && lowerBound(inner, values) === operand)
      );
    default:
      return false;
  }
}

/** The only values that satisfy the condition, where it lists them. */
function valuesOf({ $eq, $in }: FieldCondition): readonly unknown[] | undefined {
  return $eq === undefined ? $in : [$eq];
}

function upperBound({ $lte, $lt }: FieldCondition, values: readonly unknown[] | undefined): number {
  return Math.min($lte ?? Infinity, $lt ?? Infinity, bound(values, Math.max, Infinity));
}

function lowerBound({ $gte, $gt }: FieldCondition, values: readonly unknown[] | undefined): number {
  return Math.max($gte ?? -Infinity, $gt ?? -Infinity, bound(values, Math.min, -Infinity));
}

function bound(
  values: readonly unknown[] | undefined,
  furthest: (...values: number[]) => number,
  none: number,
): number {
  const numbers = values?.filter((value): value is number => typeof value === 'number') ?? [];
  return values && numbers.length === values.length && numbers.length > 0 ? furthest(...numbers) : none;
}

function domainsOf(operand: unknown): unknown[] {
  return Array.isArray(operand) ? operand.map((domain) => canonicalDomain(String(domain))) : [];
}

function isSubset(inner: readonly unknown[], outer: unknown): boolean {
  return Array.isArray(outer) && inner.length > 0 && inner.every((each) => outer.includes(each));
}
