import { isMailAddress, LIMITS } from '../action-params.js';
import type { BuyerProfile } from '../briefing.js';
import { capitalised, oneLine } from './text.js';

/** Whom an instruction means, and at which address. An address is found or it is missing; it is never composed. */

export interface Person {
  name: string | null;
  email: string | null;
}

/** A person as the instruction calls them: "Ada Lovelace", "ada@example.com", "our customers", "her". */
export interface Addressee extends Person {
  /** As written; what a summary quotes when nobody matches. */
  text: string;
  /** A pronoun or a common noun: the context has to say who it is. */
  generic: boolean;
  plural: boolean;
}

interface KnownPerson extends Person {
  email: string;
  /** The context names them as recipients, not merely as somebody involved. */
  recipient: boolean;
  buyerId?: string;
}

const ADDRESS = /(?<![\w.+'@-])[a-z0-9_+][\w.'+-]{0,63}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}/gi;

const PRONOUN = /^(?:him|her|them|everyone|everybody|all|all of them|each of them)$/i;
const NOUN =
  /\b(?:customers?|clients?|buyers?|leads?|prospects?|contacts?|subscribers?|users?|members?|suppliers?|vendors?|partners?|team|list|audience|people|attendees|participants|recipients?|person|company|accounts?|investors?|board|staff|colleagues?|candidates?|applicants?|courier|landlord|accountant|lawyer)\b/i;
const TITLE = /^(?:Mr|Mrs|Ms|Dr|Prof)\b\.?/;
const ORGANISATION =
  /\b(?:team|gmbh|inc|ltd|llc|ag|sa|bv|plc|corp|co|kg|group|company|labs?|studios?|bank|agency|partners|support|sales|holding|university|institute|foundation|association|office)\b\.?$/i;

export function findAddresses(text: string): { email: string; index: number }[] {
  return [...text.matchAll(ADDRESS)]
    .map((match) => ({ email: match[0], index: match.index }))
    .filter(({ email }) => isMailAddress(email));
}

/** "Ada (ada@example.com), Bob and our customers" as three addressees. */
export function addresseesOf(phrase: string): Addressee[] {
  const parts = phrase
    .slice(0, 2_000)
    .split(/\s*[,;&\n]\s*(?:and\s+)?|\s+and\s+|\s+plus\s+/i)
    .map((part) => part.trim().replace(/^(?:to|for|with|both)\s+|^["“(]+|["”)]+$/gi, ''))
    .filter((part) => part !== '');
  return parts.slice(0, LIMITS.recipients).map(addresseeOf);
}

function addresseeOf(text: string): Addressee {
  const email = findAddresses(text)[0]?.email ?? null;
  const words = (email === null ? text : text.replace(email, ' '))
    .replace(/[<>()"“”:]/g, ' ')
    .replace(/\s+(?:at|via|under)\s*$/i, '')
    // "Bob's complaint" is answered to Bob.
    .replace(/['’]s?\s+(?:e-?mail|mail|message|request|question|complaint|letter|inquiry|enquiry|note|reply)\b.*$/i, '')
    .trim()
    .replace(/\s+/g, ' ');
  if (words === '') return { text, email, name: null, generic: false, plural: false };
  if (PRONOUN.test(words)) {
    return { text, email, name: null, generic: true, plural: !/^(?:him|her)$/i.test(words) };
  }
  const determined = /^(?:the|our|my|all|your|every|each|both|these|those|this|that|a|an|new|existing)\b/i.test(words);
  // "our customer Ada Lovelace": the name is what is capitalised at the end.
  const properName = words.match(/(?:^|\s)((?:(?:Mr|Mrs|Ms|Dr|Prof)\.? )?\p{Lu}[\p{L}\p{N}.'’-]*(?: \p{Lu}[\p{L}\p{N}.'’-]*){0,4})$/u)?.[1];
  if (properName !== undefined && !PRONOUN.test(properName)) {
    return { text, email, name: properName, generic: false, plural: false };
  }
  if (determined || NOUN.test(words)) {
    const name = /\p{Lu}/u.test(words) ? words.replace(/^(?:the|our|my|all)\s+/i, '') : null;
    return { text, email, name, generic: name === null, plural: /s$|\b(?:team|list|all|audience|people|staff|board)\b/i.test(words) };
  }
  // "email ada about ...": a single lower-case word here is somebody's name, typed in a hurry.
  return { text, email, name: words.split(' ').map(capitalised).join(' '), generic: false, plural: false };
}

const RECIPIENT_KEY = /^(?:to|e-?mails?|mail|recipients?|addresses?|send_?to|mail_?to)$/i;
const INVOLVED_KEY = /^(?:customers?|clients?|buyers?|contacts?|leads?|prospects?|person|people|suppliers?|vendors?|partners?|name)$/i;

/** Everybody whom the directive's context or the buyer profiles give an address for. */
export function knownPeople(context: Readonly<Record<string, unknown>> | null, buyers: readonly BuyerProfile[]): KnownPerson[] {
  const known: KnownPerson[] = [];
  const entries = Object.entries(context ?? {}).slice(0, 200);
  const beside = entries.find(([key, value]) => /^name$/i.test(key) && typeof value === 'string')?.[1];
  for (const [key, value] of entries) {
    const recipient = RECIPIENT_KEY.test(key);
    if (recipient || INVOLVED_KEY.test(key)) collect(value, recipient, typeof beside === 'string' ? beside : null, known, 0);
  }
  for (const { buyerId, name, email } of buyers) {
    if (email !== undefined && isMailAddress(email)) known.push({ name: name ?? null, email, recipient: false, buyerId });
  }
  return known.filter((one, at) => known.findIndex((other) => same(other, one)) === at);
}

/** Addresses that the context wants copied. */
export function copiesIn(context: Readonly<Record<string, unknown>> | null): KnownPerson[] {
  const copies: KnownPerson[] = [];
  if (context !== null && Object.hasOwn(context, 'cc')) collect(context.cc, true, null, copies, 0);
  return copies;
}

function collect(value: unknown, recipient: boolean, name: string | null, known: KnownPerson[], depth: number): void {
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
  const full = text('name') || text('displayName') || `${text('firstName')} ${text('lastName')}`.trim() || text('company');
  return full === '' ? null : full;
}

function same(a: Person, b: Person): boolean {
  return a.email?.toLowerCase() === b.email?.toLowerCase();
}

export interface Resolved {
  people: (Person & { email: string })[];
  /** Who was asked for and has no address, in the operator's words. */
  missing: Addressee[];
}

export function resolve(addressees: readonly Addressee[], known: readonly KnownPerson[]): Resolved {
  const people: Resolved['people'] = [];
  const missing: Addressee[] = [];
  for (const asked of addressees) {
    const matches = asked.email === null ? matching(asked, known) : [{ name: asked.name, email: asked.email }];
    if (matches.length === 0) missing.push(asked);
    for (const { name, email } of matches) {
      const remembered = known.find((one) => same(one, { name, email }))?.name ?? null;
      const person = { name: asked.name ?? name ?? remembered, email };
      if (!people.some((one) => same(one, person))) people.push(person);
    }
  }
  return { people: people.slice(0, LIMITS.recipients), missing };
}

/** Nobody named at all: the recipients of the context, if it has any. */
export function impliedRecipients(known: readonly KnownPerson[]): (Person & { email: string })[] {
  const recipients = known.filter((one) => one.recipient);
  const chosen = recipients.length > 0 || known.length !== 1 ? recipients : known;
  return chosen.map(({ name, email }) => ({ name, email }));
}

function matching(asked: Addressee, known: readonly KnownPerson[]): (Person & { email: string })[] {
  if (asked.generic) {
    const recipients = known.filter((one) => one.recipient);
    const pool = recipients.length > 0 ? recipients : known;
    // "the buyer" with five buyers on file could be any of them: better to ask than to guess.
    return asked.plural || pool.length === 1 ? pool : [];
  }
  const wanted = tokens(asked.name);
  const byName = known.filter((one) => one.name !== null && covers(tokens(one.name), wanted));
  if (byName.length > 0) return byName.length === 1 ? byName : byName.filter((one) => one.recipient);
  const byId = known.filter((one) => covers(tokens(one.buyerId ?? ''), wanted) || covers(localPart(one.email), wanted));
  if (byId.length === 1) return byId;
  // A context that gives one address without a name can only mean the person whom the instruction names.
  const given = known.filter((one) => one.buyerId === undefined);
  return given.length === 1 && given[0]?.name === null ? given : [];
}

const tokens = (name: string | null): string[] => name?.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
const localPart = (email: string): string[] => tokens(email.slice(0, email.indexOf('@')));
const covers = (have: readonly string[], wanted: readonly string[]): boolean =>
  wanted.length > 0 && wanted.every((word) => have.includes(word));

/** How to address them after "Hello": "Ada", "Dr. Smith", "Acme team"; null when a name would be a guess. */
export function addressName(person: Person): string | null {
  const name = person.name ?? nameFromAddress(person.email);
  if (name === null) return null;
  if (TITLE.test(name) || ORGANISATION.test(name)) return name.replace(/^(?:the|our)\s+/i, '');
  const first = name.split(' ')[0] ?? '';
  return /^\p{L}[\p{L}'’.-]+$/u.test(first) ? first : null;
}

/** `ada.lovelace@` is a name, `jsmith@` and `info@` are not. */
function nameFromAddress(email: string | null): string | null {
  const parts = email?.slice(0, email.indexOf('@')).split(/[._-]/) ?? [];
  const isName = parts.length === 2 && parts.every((part) => /^[a-z]{3,}$/i.test(part)) && !NOUN.test(parts.join(' '));
  return isName && !ORGANISATION.test(parts.join(' ')) ? parts.map((part) => capitalised(part.toLowerCase())).join(' ') : null;
}

/** "Ada Lovelace <ada@example.com>" for a person's eyes; the packet carries the bare address. */
export function spokenPerson({ name, email }: Person): string {
  if (email === null) return name ?? 'somebody';
  return name === null ? email : `${name} (${email})`;
}
