import { cutText } from '../../../platform/kernel/text.js';
import type { Briefing } from '../briefing.js';
import { EVERYBODY } from '../danger-words.js';
import type { Ask } from './asks.js';
import { addressesIn, oneLine, type Passage, type Text, within } from './text.js';
import {
  ABOUT,
  ALSO,
  at,
  COPIED,
  COPIES_AT_END,
  DESCRIBES,
  IS_SUBJECT,
  NAMED_NEXT,
  NAME_IN_LIST,
  NOT_TO,
  ROLES,
  TOLD,
} from './words.js';

interface Person {
  name: string;
  email: string;
}

/** Whom the workspace and the directive's context know. */
export interface Contacts {
  people: Person[];
  to: string[];
  cc: string[];
  /** What the context has in place of an address of either. */
  unread: Readonly<Record<'to' | 'cc', string[]>>;
}

export interface Recipients {
  to: string[];
  cc: string[];
  /** What a person is asked where nobody is known to receive it. */
  question?: string;
  remarks: string[];
}

const FIELDS = {
  to: /^(?:to|an|e-?mails?|mail|address(?:es)?|recipients?|send_?to|reply_?to|customer_?email)$/i,
  cc: /^(?:cc|copy)$/i,
  from: /^(?:from|sender|reply_?from)$/i,
};
/** Nothing but recipients stands in these. */
const ONLY_RECIPIENTS = { to: /^(?:to|an|recipients?|send_?to)$/i, cc: FIELDS.cc };
const MAX_FIELDS = 500;

export function contactsOf({ buyerContext, directive }: Briefing): Contacts {
  const contacts: Contacts = { people: [], to: [], cc: [], unread: { to: [], cc: [] } };
  const from: string[] = [];
  for (const { name, email } of buyerContext.profiles)
    if (name && email) contacts.people.push({ name, email });
  const queue: [key: string, value: unknown][] = Object.entries(directive.context ?? {});
  for (let index = 0; index < queue.length && index < MAX_FIELDS; index += 1) {
    const [key, value] = queue[index]!;
    const found =
      typeof value === 'string' ? addressesIn(cutText(value, 10_000, '')).map(({ text }) => text) : [];
    for (const role of ['to', 'cc'] as const)
      if (ONLY_RECIPIENTS[role].test(key)) contacts.unread[role].push(...unreadIn(value));
    if (FIELDS.to.test(key)) contacts.to.push(...found);
    else if (FIELDS.cc.test(key)) contacts.cc.push(...found);
    else if (FIELDS.from.test(key)) from.push(...found);
    if (typeof value !== 'object' || value === null) continue;
    const { name, email } = value as Partial<Person>;
    if (typeof name === 'string' && typeof email === 'string') contacts.people.push({ name, email });
    for (const [inner, each] of Object.entries(value).slice(0, MAX_FIELDS)) {
      // Of a person within a list of contacts only those are written to whom the directive names.
      const isOwn = Array.isArray(value) || !/^(?:contacts|people|customers|buyers|attendees)$/i.test(key);
      queue.push([Array.isArray(value) ? key : isOwn ? inner : `${key}.${inner}`, each]);
    }
  }
  // Whoever wrote is answered, where nobody else is named.
  return contacts.to.length > 0 ? contacts : { ...contacts, to: from };
}

/** What somebody gave as a recipient and is no mail address. */
function unreadIn(value: unknown): string[] {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return [];
  return cutText(String(value), 10_000, '')
    .split(/[,;\n]/)
    .map(oneLine)
    .filter((each) => each !== '' && addressesIn(each).length === 0);
}

/** Where the description of the message begins, within the head of the ask. */
export function describedFrom({ masked }: Text, { start, headEnd }: Ask): number {
  const head = masked.slice(start, headEnd);
  const address = head.indexOf('\uFDD1');
  const told = TOLD.exec(head.slice(0, address < 0 ? head.length : address));
  if (told) return start + told.index + told[0].length;
  const behind = at(head.slice(Math.max(0, address)), DESCRIBES);
  return behind < 0 ? headEnd : start + Math.max(0, address) + behind;
}

/** "..., cc bob@..." at the end of a description is no part of it. */
export function copiesFrom(whole: Text, ask: Ask): number {
  const limit = describedFrom(whole, ask);
  const copies = COPIES_AT_END.exec(whole.masked.slice(limit, ask.headEnd));
  return copies ? limit + copies.index : ask.headEnd;
}

export function recipientsOf(
  whole: Text,
  ask: Ask,
  contacts: Contacts,
  isSaid: boolean,
  message?: Passage,
): Recipients {
  const head = { start: ask.start, end: ask.headEnd };
  const limit = isSaid ? ask.headEnd : describedFrom(whole, ask);
  const found: Recipients = { to: [], cc: [], remarks: [] };
  const [lookAlike] = within(head, whole.lookAlikes);
  if (lookAlike)
    return {
      ...found,
      question: `Who is to receive it? “${lookAlike.text}” has letters that only look like others.`,
    };
  let role: keyof typeof ROLES = 'to';
  let from = head.start;
  const doubtful: string[] = [];
  for (const { start, end, text } of within({ start: head.start, end: limit }, whole.addresses)) {
    // Behind the message a list begins anew.
    const isAnew = message !== undefined && start > message.end && from < message.end;
    const between = whole.masked.slice(isAnew ? message.end : from, start);
    const behind = whole.masked.slice(end, end + 20);
    const isFirst = from === head.start || isAnew;
    const given = COPIED.test(behind) ? 'cc' : roleIn(isAnew ? between.slice(-15) : between);
    role = given ?? role;
    from = end;
    // "Mail jane@... “...!” I met bob@... there": who is spoken of in the next sentence is only mentioned.
    const isAside =
      isAnew && found.to.length > 0 && given === undefined && whole.masked[message.end - 1] === '\uFDD3';
    if (NOT_TO.test(between) || isAside) continue;
    const isSpokenOf =
      ABOUT.test(between) || /^['’]s(?!\p{L})/u.test(behind) || (!isFirst && IS_SUBJECT.test(behind));
    const isListed =
      given === 'cc' ||
      given === 'bcc' ||
      (isAnew ? given !== undefined : isFirst || NAMED_NEXT.test(between));
    if (role === 'bcc')
      found.remarks.push(`The built-in runner can't send blind copies; ${text} was left out.`);
    if (isSpokenOf || !isListed || role === 'bcc') doubtful.push(text);
    else add(found[role], text);
  }
  // No message and the address behind the colon: "Tell Ben that the keys are here: ben@..."
  const own = ask.said ? [] : within({ start: ask.headEnd, end: ask.end }, whole.addresses);
  for (const { text } of own) add(found.to, text);
  const end = isSaid ? ask.headEnd : copiesFrom(whole, ask);
  for (const { text } of within({ start: end, end: ask.headEnd }, whole.addresses)) add(found.cc, text);
  const unsure = doubtful.filter((each) => !has([...found.to, ...found.cc], each));
  const also = isSaid ? null : ALSO.exec(whole.masked.slice(limit, end));
  if (found.to.length > 0 && also) {
    const said = whole.text.slice(limit + also.index, limit + also.index + also[0].length);
    unsure.push(`“${said.replace(/^[\s,]+(?:(?:and|und|et|y)\s)?/u, '')}”`);
  }
  if (found.to.length > 0) unsure.push(...othersIn(whole.masked.slice(head.start, limit), found));
  if (unsure.length > 0) {
    const known = found.to.length > 0 ? `${found.to.join(', ')} alone, or also ` : '';
    return { ...found, to: [], question: `Who is to receive it: ${known}${unsure.join(', ')}?` };
  }
  if (found.to.length === 0) {
    // Who is named behind the message is meant only where nobody is named before it.
    const before = { start: head.start, end: Math.min(limit, message?.start ?? limit) };
    const isNamed = meant(whole.masked.slice(before.start, before.end), contacts.people).length > 0;
    nameRecipients(found, whole, ask, isNamed ? before : { start: head.start, end: limit }, contacts);
  }
  for (const copy of contacts.cc) add(found.cc, copy);
  return {
    ...found,
    to: found.to.slice(0, 100),
    cc: found.cc.filter((each) => !has(found.to, each)).slice(0, 100),
  };
}

/** "Bob, jane@... and carl@...", "jane@... and Bob": whom no address stands for; "Mr Martin, martin@..." is one person. */
function othersIn(head: string, { to }: Recipients): string[] {
  return [...head.matchAll(NAME_IN_LIST)]
    .map(({ groups }) => groups!['before'] ?? groups!['behind']!)
    .filter((name) => !to.some((each) => each.toLowerCase().includes(name.split(' ').at(-1)!.toLowerCase())));
}

function roleIn(text: string): keyof typeof ROLES | undefined {
  return (['bcc', 'cc', 'to'] as const).find((role) => at(text.slice(-200), ROLES[role]) >= 0);
}

/** Exactly one person, or the question who is meant. */
function nameRecipients(
  found: Recipients,
  whole: Text,
  ask: Ask,
  head: { start: number; end: number },
  contacts: Contacts,
) {
  const masked = whole.masked.slice(head.start, head.end);
  if (at(masked, EVERYBODY) >= 0) {
    found.question = 'Name the addresses: a mail to everybody is not addressed by the built-in runner.';
    return;
  }
  const unclear: string[] = [];
  const known = meant(masked, contacts.people);
  for (const people of known) {
    const emails = [...new Set(people.map(({ email }) => email.toLowerCase()))];
    if (emails.length === 1) add(found.to, people[0]!.email);
    else unclear.push(people.map(({ name, email }) => `${name} (${email})`).join(' or '));
  }
  if (unclear.length > 0) {
    found.to = [];
    found.question = `Who is to receive it: ${oneLine(unclear.join('; '))}?`;
    return;
  }
  if (found.to.length === 0) found.to.push(...new Set(contacts.to));
  if (found.to.length > 0) return;
  const name =
    /(?<![\p{L}\p{N}])(?!I |I'|Could |Can |Please |Would |Bitte |Kannst )(?:\p{Lu}[\p{L}'’-]+\.?)(?: \p{Lu}[\p{L}'’-]+)*/u.exec(
      masked.replace(/^\s*\p{L}+/u, ''),
    )?.[0];
  const why = name ? `No address is known for “${name}”.` : 'No address is given.';
  // What somebody else wrote may name anybody, so a person says who is meant.
  const mentioned = [
    ...within(ask, whole.addresses),
    ...whole.pasted.flatMap(({ text }) => addressesIn(text)),
  ].map(({ text }) => text);
  const others = mentioned.length > 0 ? ` Mentioned: ${[...new Set(mentioned)].join(', ')}.` : '';
  found.question = `Who is to receive it? ${why}${others}`;
}

/** Full names first; a single name only where no full one is said. */
export function meant(text: string, people: readonly Person[]): Person[][] {
  const tokens = [...text.matchAll(/\p{L}[\p{L}\p{N}'’&.-]*/gu)]
    .slice(0, 300)
    .map(([word]) => word.replace(/(?:['’]s|[.])$/u, '').toLowerCase());
  const said = ` ${tokens.join(' ')} `;
  const words = (name: string) => name.toLowerCase().split(/\s+/).filter(Boolean);
  const full = people.filter(
    ({ name }) => words(name).length > 0 && said.includes(` ${words(name).join(' ')} `),
  );
  const byName = Map.groupBy(full, ({ name }) => words(name).join(' '));
  if (byName.size > 0) return [...byName.values()];
  // "Sophie Delmas" is not Sophie Marchand.
  const surnamed = new Set(
    [...text.matchAll(/(\p{Lu}[\p{L}'’-]*)\s+(?=\p{Lu}[\p{L}'’-]+)/gu)].map(([, word]) =>
      word!.toLowerCase(),
    ),
  );
  const spoken = new Set(tokens.filter((token) => token.length > 1 && !surnamed.has(token)));
  const single = people.flatMap((person) =>
    words(person.name)
      .filter((word) => spoken.has(word))
      .map((word) => ({ word, person })),
  );
  return [...Map.groupBy(single, ({ word }) => word).values()].map((group) =>
    group.map(({ person }) => person),
  );
}

function has(list: readonly string[], address: string): boolean {
  return list.some((each) => each.toLowerCase() === address.toLowerCase());
}

function add(list: string[], address: string): void {
  if (!has(list, address)) list.push(address);
}
