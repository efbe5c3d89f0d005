import { LIMITS } from '../action-params.js';
import { addresseesOf, type Addressee } from './addressee.js';
import type { Assignment } from './assignment.js';
import { copiesIn, impliedRecipients, knownPeople, resolve, type Recipient } from './recipients.js';

/** Who gets a mail: together, or each alone. */
export interface Envelope {
  /** One mail each; a single empty group when nobody was found. */
  groups: Recipient[][];
  copies: Recipient[];
  missing: Addressee[];
}

export function envelopeFor(
  { briefing, edits }: Assignment,
  asked: readonly Addressee[],
  cc: readonly Addressee[],
): Envelope {
  const { context } = briefing.directive;
  const known = knownPeople(context, briefing.buyerContext.profiles);
  const resolved = resolve([...asked, ...edits.alsoTo.flatMap(addresseesOf)], known);
  const found =
    asked.length === 0 && resolved.people.length === 0 ? impliedRecipients(known) : resolved.people;
  const copied = resolve([...cc, ...edits.cc.flatMap(addresseesOf)], known);
  const readers = new Set(found.map(({ email }) => email.toLowerCase()));
  const copies = [...copiesIn(context), ...copied.people].filter(
    ({ email }, at, all) =>
      !readers.has(email.toLowerCase()) &&
      all.findIndex((other) => other.email.toLowerCase() === email.toLowerCase()) === at,
  );
  // Customers needn't learn each other's addresses: what goes to a kind of people goes to each of them alone.
  const apart =
    found.length > 1 && asked.some(({ generic, plural, text }) => generic && plural && !TOGETHER.test(text));
  return {
    groups: apart ? found.map((one) => [one]) : [found],
    copies: copies.slice(0, LIMITS.recipients),
    missing: [...resolved.missing, ...copied.missing],
  };
}

/** People who know each other already. */
const TOGETHER = /\b(?:team|staff|board|colleagues|them|all of them)\b/i;
