import { hasRole } from '../../platform/auth/caller.js';
import { APPROVAL_LASTS_MINUTES } from './evaluate.js';
import { isWithin } from './rule-cover.js';
import {
  type OrderApproval,
  type OrderApprovers,
  type OrderBudget,
  type OrderLimits,
  restrains,
  type StandingOrderRule,
  strictness,
  tightens,
} from './standing-order.js';

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
