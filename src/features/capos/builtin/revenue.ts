import { addresseesOf } from './addressee.js';
import { findMoney } from './money.js';
import { capitalised, oneLine } from './text.js';

/** "record 1,200 EUR from Acme for the annual plan" */
export interface RevenueEntry {
  amount: number;
  /** Null when the instruction names none; a currency is never assumed. */
  currency: string | null;
  source: string | null;
  description: string | null;
}

const VERB = /^(?:record|log|book|register|enter|add|note|count|track|write down)\b/i;
/** Money that goes the other way: the ledger of revenue events holds income only. */
const OUTGOING =
  /\b(?:refund(?:ed|s)?|charge-?backs?|expenses?|costs?|we paid|spent|spending|outgoing|credit note)\b/i;
const LINK = String.raw`(?=\s+(?:for|on|as|in|with|dated|and|because|via)\b|[,;:]|[.](?:\s|$)|$)`;
const SOURCE = new RegExp(String.raw`\b(?:from|by|paid by|with)\s+(?<who>[^,;:\n]{1,200}?)${LINK}`, 'i');
const PURPOSE = /\bfor\s+(?<what>[^;\n]{1,500}?)(?=[.;]\s|[.;]?$|\s+(?:from|by)\s)/i;

export function isOutgoing(step: string): boolean {
  return VERB.test(step) && OUTGOING.test(step) && findMoney(step).length > 0;
}

/** `undated` text: what the entry says when an amount is there and money came in; undefined otherwise. */
export function readRevenue(step: string): RevenueEntry | undefined {
  if (!VERB.test(step) || OUTGOING.test(step)) return undefined;
  const money = findMoney(step)[0];
  if (money === undefined) return undefined;
  const text = step.replace(money.text, ' ').replace(/\s+/g, ' ');
  const who = text.match(SOURCE)?.groups?.who;
  const person = who === undefined ? undefined : addresseesOf(who)[0];
  const what =
    text.match(PURPOSE)?.groups?.what ??
    text.match(/^\S+\s+(?:an?|the)\s+(?<what>.{1,200}?)\s+(?:of|over|worth)\s/i)?.groups?.what;
  return {
    amount: money.amount,
    currency: money.currency,
    source: person === undefined ? null : oneLine(person.name ?? person.email ?? person.text, 190),
    description:
      what === undefined ? null : capitalised(oneLine(what, 500).replace(/^(?:an?|the|our)\s+/i, '')),
  };
}
