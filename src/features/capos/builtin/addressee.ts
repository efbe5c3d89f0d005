import { cutText } from '../../../platform/kernel/text.js';
import { isMailAddress, LIMITS } from '../action-params.js';
import { capitalised } from './text.js';

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
  /** A word in lower case taken for a name; "email ada" and "email invoices" look alike. */
  guessed: boolean;
}

/** Kinds of people that a sentence can address without naming anybody. */
export const KIND_OF_PERSON =
  'customers?|clients?|buyers?|leads?|prospects?|contacts?|subscribers?|users?|members?|suppliers?|vendors?|partners?|team|' +
  'mailing list|waiting list|waitlist|list|audience|people|attendees|participants|recipients?|investors?|board|staff|' +
  'colleagues?|candidates?|applicants?|courier|landlord|accountant|lawyer|guests?|speakers?|sponsors?|tenants?';

const ADDRESS = /(?<![\w.+'@-])[a-z0-9_+][\w.'+-]{0,63}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}/gi;
const PRONOUN = /^(?:him|her|them|everyone|everybody|all|all of them|each of them)$/i;
const KIND = new RegExp(String.raw`\b(?:${KIND_OF_PERSON}|person|company|accounts?)\b`, 'i');
const MANY = /s$|\b(?:team|list|all|audience|people|staff|board)\b/i;
const DETERMINED = /^(?:the|our|my|all|your|every|each|both|these|those|this|that|a|an|new|existing)\b/i;
const NAME_WORD = String.raw`\p{Lu}[\p{L}\p{N}.'’-]*`;
/** "our customer Ada Lovelace": the name is what is capitalised at the end. */
const NAME_AT_END = new RegExp(
  String.raw`(?:^|\s)((?:(?:Mr|Mrs|Ms|Dr|Prof)\.? )?${NAME_WORD}(?: (?:(?:van|von|der|de|del|la|bin|al) ){0,2}${NAME_WORD}){0,4})$`,
  'u',
);
const TITLE = /^(?:Mr|Mrs|Ms|Dr|Prof)\b\.?/;
const ORGANISATION =
  /\b(?:team|gmbh|inc|ltd|llc|ag|sa|bv|plc|corp|co|kg|group|company|labs?|studios?|bank|agency|partners|support|sales|holding|university|institute|foundation|association|office|courier|logistics|services?|solutions|consulting|media|design|software|systems|industries|store|shop|hotel|restaurant|school|clinic|council|club|partnership)\b\.?$/i;

export function findAddresses(text: string): { email: string; index: number }[] {
  return [...text.matchAll(ADDRESS)]
    .map((match) => ({ email: match[0], index: match.index }))
    .filter(({ email }) => isMailAddress(email));
}

/** "Ada (ada@example.com), Bob and our customers" as three addressees. */
export function addresseesOf(phrase: string): Addressee[] {
  return cutText(phrase, 2_000, '')
    .split(/\s*[,;&\n]\s*(?:and\s+)?|\s+and\s+|\s+plus\s+/i)
    .map((part) => part.trim().replace(/^(?:to|for|with|both)\s+|^["“(]+|["”)]+$/gi, ''))
    .filter((part) => part !== '')
    .slice(0, LIMITS.recipients)
    .map(addresseeOf);
}

export function named(name: string): Addressee {
  return { text: name, name, email: null, generic: false, plural: false, guessed: false };
}

function addresseeOf(text: string): Addressee {
  const email = findAddresses(text)[0]?.email ?? null;
  const words = wordsOf(email === null ? text : text.replace(email, ' '));
  const addressee: Addressee = { text, email, name: null, generic: false, plural: false, guessed: false };
  if (words === '') return addressee;
  if (PRONOUN.test(words)) return { ...addressee, generic: true, plural: !/^(?:him|her)$/i.test(words) };
  const name = words.match(NAME_AT_END)?.[1];
  if (name !== undefined) return { ...addressee, name };
  if (DETERMINED.test(words) || KIND.test(words)) {
    // "the Acme team" has a name in it, "the customers" hasn't.
    const group = /\p{Lu}/u.test(words) ? words.replace(/^(?:the|our|my|all)\s+/i, '') : null;
    return { ...addressee, name: group, generic: group === null, plural: MANY.test(words) };
  }
  return { ...addressee, name: words.split(' ').map(capitalised).join(' '), guessed: true };
}

function wordsOf(text: string): string {
  return (
    text
      .replace(/[<>()"“”:]/g, ' ')
      .replace(/\s+(?:at|via|under)\s*$/i, '')
      // "Bob's complaint" is answered to Bob.
      .replace(
        /['’]s?\s+(?:e-?mail|mail|message|request|question|complaint|letter|inquiry|enquiry|note|reply)\b.*$/i,
        '',
      )
      .trim()
      .replace(/\s+/g, ' ')
  );
}

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
  const isName =
    parts.length === 2 && parts.every((part) => /^[a-z]{3,}$/i.test(part)) && !KIND.test(parts.join(' '));
  return isName && !ORGANISATION.test(parts.join(' '))
    ? parts.map((part) => capitalised(part.toLowerCase())).join(' ')
    : null;
}

/** "Ada Lovelace <ada@example.com>" for a person's eyes; the packet carries the bare address. */
export function spokenPerson({ name, email }: Person): string {
  if (email === null) return name ?? 'somebody';
  return name === null ? email : `${name} (${email})`;
}
