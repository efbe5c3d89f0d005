import { type DecisionOrder, storableOrder } from './decision-input.js';
import type { OrderInForce } from './standing-orders.repository.js';

/** How many characters of orders are known at the most; an order is some 500 of them, and 100,000 at the most. */
const CAPACITY = 4_000_000;

const known = new Map<string, DecisionOrder>();
let characters = 0;

/**
 * The order of this row, as decisions take it. Each decision reads every order in force from the database, and most of them
 * are those of the decision before: what an order says is parsed and put into its canonical form once, and not three times
 * a decision (with 200 orders, some 10 of 15 ms went there). All that a decision goes by is part of the key, so an order that has
 * changed in any way is another one.
 */
export function orderOf(row: OrderInForce): DecisionOrder {
  const { standingOrderId, version, hash, name, status, teamId, capos, effect, expiresAt } = row;
  const { match, when, limits, budget, approval } = row;
  const plain = { standingOrderId, version, hash, name, status, teamId, capos, effect, expiresAt };
  const key = JSON.stringify([plain, match, when, limits, budget, approval]);
  const found = known.get(key);
  if (found) {
    // The one that nobody asked for longest is the first to go.
    known.delete(key);
    known.set(key, found);
    return found;
  }
  const order = storableOrder({
    ...plain,
    match: parsed(match) as DecisionOrder['match'],
    when: parsed(when) as DecisionOrder['when'],
    limits: parsed(limits) as DecisionOrder['limits'],
    budget: parsed(budget) as DecisionOrder['budget'],
    approval: parsed(approval) as DecisionOrder['approval'],
  });
  known.set(key, order);
  characters += key.length;
  for (const oldest of known.keys()) {
    if (characters <= CAPACITY) break;
    known.delete(oldest);
    characters -= oldest.length;
  }
  return order;
}

function parsed(text: string | null): unknown {
  return text === null ? null : JSON.parse(text);
}
