import { type DecisionOrder, storableOrder } from './decision-input.js';

/** How many characters of orders are known at the most; an order is some 500 of them, and 100,000 at the most. */
const CAPACITY = 4_000_000;

const known = new Map<string, DecisionOrder>();
let characters = 0;

/**
 * The order of this JSON text, as decisions take it. Each decision reads every order in force from the database, and
 * most of them are those of the decision before: what an order says is then parsed and put into its canonical form once,
 * and not three times a decision (of 14 ms with 200 orders, 8 went there). The whole text is the key, so an order that has
 * changed in any way is another one.
 */
export function orderOf(text: string): DecisionOrder {
  const found = known.get(text);
  if (found) {
    // The one that nobody asked for longest is the first to go.
    known.delete(text);
    known.set(text, found);
    return found;
  }
  const order = storableOrder(JSON.parse(text) as DecisionOrder);
  known.set(text, order);
  characters += text.length;
  for (const oldest of known.keys()) {
    if (characters <= CAPACITY) break;
    known.delete(oldest);
    characters -= oldest.length;
  }
  return order;
}
