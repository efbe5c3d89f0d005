import {
  EFFECTS,
  type Effect,
  type FieldCondition,
  type OrderApproval,
  type OrderBudget,
  type OrderLimits,
  type OrderWhen,
  restrains,
  type StandingOrderRule,
  tightens,
} from './standing-order.js';

/**
 * True when the next rule certainly lets nothing through that the former one did not, whatever other orders there are. It
 * compares what the rules say and not what they mean, so it may answer false for a rule that is in fact no looser; then
 * somebody with more rights is asked, which is the safe mistake.
 */
export function isNoLooser(former: StandingOrderRule, next: StandingOrderRule): boolean {
  if (former.teamId !== next.teamId || strictness(next.effect) < strictness(former.effect)) return false;
  if (tightens(former)) return isWithin(former, next) && restrainsAsMuch(former, next);
  // Its limits, budget and terms bind every work packet that it matches, also where another order allows it.
  const keepsTerms =
    !restrains(former) ||
    (isWithin(former, next) && (next.effect === 'deny' || restrainsAsMuch(former, next)));
  return keepsTerms && (tightens(next) || isWithin(next, former));
}

function strictness(effect: Effect): number {
  return EFFECTS.indexOf(effect);
}

/** True when the inner rule certainly applies to no work packet, and at no time, that the outer one does not. */
function isWithin(inner: StandingOrderRule, outer: StandingOrderRule): boolean {
  const { match: a } = inner;
  const { match: b } = outer;
  return (
    isSubset(inner.capos, outer.capos) &&
    isSubset(a.actionTypes, b.actionTypes) &&
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
  return Object.entries(outer).every(([name, operand]) => {
    const operator = name as keyof FieldCondition;
    const own = inner[operator];
    if (own === undefined) return false;
    switch (operator) {
      case '$lt':
      case '$lte':
        return (own as number) <= (operand as number);
      case '$gt':
      case '$gte':
        return (own as number) >= (operand as number);
      case '$in':
      case '$domainIn':
        return isSubset(own as unknown[], operand as unknown[]);
      case '$nin':
        return isSubset(operand as unknown[], own as unknown[]);
      default:
        return own === operand;
    }
  });
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
  const minutes = former?.expiresInMinutes ?? null;
  const escalates = next?.onExpiry === 'escalate';
  return (
    (minutes === null || (next?.expiresInMinutes ?? Infinity) <= minutes) &&
    (former?.onExpiry === 'reject'
      ? next?.onExpiry === 'reject'
      : !escalates || former?.onExpiry === 'escalate') &&
    (former?.selfApproval !== false || next?.selfApproval === false)
  );
}
