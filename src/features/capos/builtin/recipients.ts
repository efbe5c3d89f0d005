import { isMailAddress, LIMITS } from '../action-params.js';
import type { BuyerProfile } from '../briefing.js';
import { addresseesOf, type Addressee, type Person } from './addressee.js';
import { oneLine } from './text.js';

/** Where to reach the people whom an instruction means. An address is found or it is missing; it is never composed. */

export interface Recipient extends Person {
  email: string;
}

interface KnownPerson extends Recipient {
  /** The context names them as recipients, not merely as somebody involved. */
  recipient: boolean;
  buyerId?: string;
}

const RECIPIENT_KEY = /^(?:to|e-?mails?|mail|recipients?|addresses?|send_?to|mail_?to)$/i;
const INVOLVED_KEY =
  /^(?:customers?|clients?|buyers?|contacts?|leads?|prospects?|person|people|suppliers?|vendors?|partners?|name)$/i;

/** Everybody whom the directive's context or the buyer profiles give an address for. */
export function knownPeople(
  context: Readonly<Record<string, unknown>> | null,
  buyers: readonly BuyerProfile[],
): KnownPerson[] {
  const known: KnownPerson[] = [];
  const entries = Object.entries(context ?? {}).slice(0, 200);
  const beside = entries.find(([key, value]) => /^name$/i.test(key) && typeof value === 'string')?.[1];
  for (const [key, value] of entries) {
    const recipient = RECIPIENT_KEY.test(key);
    if (recipient || INVOLVED_KEY.test(key))
      collect(value, recipient, typeof beside === 'string' ? beside : null, known, 0);
  }
  for (const { buyerId, name, email } of buyers) {
    if (email !== undefined && isMailAddress(email))
      known.push({ name: name ?? null, email, recipient: false, buyerId });
  }
  return known.filter((one, at) => known.findIndex((other) => same(other, one)) === at);
}

/** Addresses that the context wants copied. */
export function copiesIn(context: Readonly<Record<string, unknown>> | null): KnownPerson[] {
  const copies: KnownPerson[] = [];
  if (context !== null && Object.hasOwn(context, 'cc')) collect(context.cc, true, null, copies, 0);
  return copies;
}

function collect(
  value: unknown,
  recipient: boolean,
  name: string | null,
  known: KnownPerson[],
  depth: number,
): void {
  if (depth > 3 || known.length >= LIMITS.recipients) return;
  if (typeof value === 'string') {
    for (const { email, name: own } of addresseesOf(oneLine(value))) {
      if (email !== null) known.push({ name: own ?? name, email, recipient });
    }
  } else if (Array.isArray(value)) {
    for (const each of value.slice(0, LIMITS.recipients)) collect(each, recipient, null, known, depth + 1);
  } else if (typeof value === 'object' && value !== null) {
    const record = value as Record<string, unknown>;
    const named = nameIn(record);
    for (const key of ['email', 'emails', 'mail', 'address', 'to', 'contact']) {
      if (record[key] !== undefined) collect(record[key], recipient, named ?? name, known, depth + 1);
    }
  }
}

function nameIn(record: Record<string, unknown>): string | null {
  const text = (key: string) => (typeof record[key] === 'string' ? oneLine(record[key], 120) : '');
  const full =
    text('name') ||
    text('displayName') ||
    `${text('firstName')} ${text('lastName')}`.trim() ||
    text('company');
  return full === '' ? null : full;
}

function same(a: Person, b: Person): boolean {
  return a.email?.toLowerCase() === b.email?.toLowerCase();
}

export interface Resolved {
  people: Recipient[];
  /** Who was asked for and has no address, in the operator's words. */
  missing: Addressee[];
}

export function resolve(addressees: readonly Addressee[], known: readonly KnownPerson[]): Resolved {
  const people: Recipient[] = [];
  const missing: Addressee[] = [];
  for (const asked of addressees) {
    const matches =
      asked.email === null ? matching(asked, known) : [{ name: asked.name, email: asked.email }];
    if (matches.length === 0) missing.push(asked);
    for (const { name, email } of matches) {
      const remembered = known.find((one) => same(one, { name, email }))?.name ?? null;
      const person = { name: fuller(asked.name, remembered ?? name), email };
      if (!people.some((one) => same(one, person))) people.push(person);
    }
  }
  return { people: people.slice(0, LIMITS.recipients), missing };
}

/** "Ada" in the instruction and "Ada Lovelace" in the context are one person with a full name. */
function fuller(asked: string | null, known: string | null): string | null {
  return asked === null || covers(tokens(known), tokens(asked)) ? (known ?? asked) : asked;
}

/** Nobody named at all: the recipients of the context, if it has any. */
export function impliedRecipients(known: readonly KnownPerson[]): Recipient[] {
  const recipients = known.filter((one) => one.recipient);
  const chosen = recipients.length > 0 || known.length !== 1 ? recipients : known;
  return chosen.map(({ name, email }) => ({ name, email }));
}

function matching(asked: Addressee, known: readonly KnownPerson[]): readonly Recipient[] {
  if (asked.generic) {
    const recipients = known.filter((one) => one.recipient);
    const pool = recipients.length > 0 ? recipients : known;
    // "the buyer" with five buyers on file could be any of them: better to ask than to guess.
    return asked.plural || pool.length === 1 ? pool : [];
  }
  const wanted = tokens(asked.name);
  const byName = known.filter((one) => one.name !== null && covers(tokens(one.name), wanted));
  if (byName.length > 0) return byName.length === 1 ? byName : byName.filter((one) => one.recipient);
  const byId = known.filter(
    (one) => covers(tokens(one.buyerId ?? ''), wanted) || covers(localPart(one.email), wanted),
  );
  if (byId.length === 1) return byId;
  // A context that gives one address without a name can only mean the person whom the instruction names.
  const given = known.filter((one) => one.buyerId === undefined);
  return given.length === 1 && given[0]?.name === null ? given : [];
}

const tokens = (name: string | null): string[] => name?.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
const localPart = (email: string): string[] => tokens(email.slice(0, email.indexOf('@')));
const covers = (have: readonly string[], wanted: readonly string[]): boolean =>
  wanted.length > 0 && wanted.every((word) => have.includes(word));
