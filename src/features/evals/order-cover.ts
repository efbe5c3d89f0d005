import { canonicalJson } from '../../platform/kernel/canonical-json.js';
import { type StandingOrderRule, isWithin } from '../standing-orders/index.js';

/**
 * True when `outer` matches every work packet that `inner` matches, at every time. Only what can be told from the two
 * rules for certain counts: where it cannot, the answer is false.
 */
export function covers(outer: StandingOrderRule, inner: StandingOrderRule): boolean {
  return (outer.teamId === null || outer.teamId === inner.teamId) && isWithin(inner, outer);
}

/** True when two rules say the same, whatever they are called. */
export function isSameRule(one: StandingOrderRule, other: StandingOrderRule): boolean {
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
