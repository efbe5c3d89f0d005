import type { DecisionOrder } from './decision-input.js';

/** Those that a decision for a team goes by, from the expiry of one order to that of the next. */
export type OrdersOfTeams = Map<
  string | null,
  { orders: readonly DecisionOrder[]; from: number; until: number }
>;

/**
 * The orders that a decision for a team goes by, as a frozen list that is the same until something changes. Another team's
 * orders are no part of it: they say nothing about the decision, and the team must not read of them.
 */
export function ordersFor(
  { orders, ofTeams }: { orders: readonly DecisionOrder[]; ofTeams: OrdersOfTeams },
  teamId: string | null,
  at: number,
): readonly DecisionOrder[] {
  const former = ofTeams.get(teamId);
  if (former && former.from <= at && at < former.until) return former.orders;
  const ofTeam = orders.filter((order) => order.teamId === null || order.teamId === teamId);
  const inForce = Object.freeze(ofTeam.filter(({ expiresAt }) => at < (expiresAt ?? Infinity)));
  const expiries = ofTeam.map(({ expiresAt }) => expiresAt ?? Infinity);
  const from = Math.max(-Infinity, ...expiries.filter((expiry) => expiry <= at));
  const until = Math.min(Infinity, ...expiries.filter((expiry) => expiry > at));
  ofTeams.set(teamId, { orders: inForce, from, until });
  return inForce;
}
