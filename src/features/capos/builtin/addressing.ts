import { addresseesOf, KIND_OF_PERSON, type Addressee } from './addressee.js';

/**
 * Who is addressed at the start of a phrase: "Ada Lovelace (ada@example.com) about ...", "the customers on the
 * waiting list that ...", "them whether ...". Words decide, in the order of how sure they make it: an address, a
 * capitalised name, a pronoun, a kind of person, and at last a single word in lower case.
 */
export interface Addressed {
  to: Addressee[];
  /** Everything behind the people. */
  content: string;
}

/** Words that end a group of words naming somebody. */
const STOP =
  'that|whether|if|about|regarding|concerning|re|to|for|of|on|in|at|by|with|from|because|as|so|saying|asking|telling|' +
  'when|what|which|how|why|where|who|whose|and|or|but|then|the|a|an|our|my|his|her|their|your|its|this|these|those|' +
  'we|i|it|he|she|they|you|there|is|are|was|were|has|have|had|will|would|can|could|should|may|must|do|does|not|no|' +
  'today|tomorrow|tonight|yesterday|now|asap|please|before|after|until|next|monday|tuesday|wednesday|thursday|friday|' +
  'saturday|sunday|january|february|march|april|june|july|august|september|october|november|december';

const ADDRESS = String.raw`[\p{L}\p{N}_+][\p{L}\p{N}._'+-]{0,63}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}`;
const IN_BRACKETS = String.raw`\s*[<(]\s*${ADDRESS}\s*[>)]`;
const NAME_WORD = String.raw`(?!(?:${STOP})\b)\p{Lu}[\p{L}\p{N}]*(?:(?!['’]s\b)['’-][\p{L}\p{N}]+)*(?:\.(?=\s+\p{Lu}))?`;
const CASED_NAME_WORD = NAME_WORD.replace(
  `(?:${STOP})`,
  `(?:${STOP.split('|')
    .map((word) =>
      word === 'i' ? 'I' : `[${word.charAt(0)}${word.charAt(0).toUpperCase()}]${word.slice(1)}`,
    )
    .join('|')})`,
);
const NAME = String.raw`${CASED_NAME_WORD}(?:\s+(?:(?:van|von|der|de|del|la|bin|al)\s+){0,2}${CASED_NAME_WORD}){0,4}`;

/** In order of certainty; each is tried where the last one ended. */
const ITEMS: readonly RegExp[] = [
  new RegExp(String.raw`[<(]?${ADDRESS}[>)]?`, 'uy'),
  new RegExp(
    String.raw`(?:(?:our|my|the)\s+(?:[\p{Ll}-]+\s+){1,3})?${NAME}(?:${IN_BRACKETS}|\s+(?:at|via|under)\s+${ADDRESS})?(?:['’]s?\s+(?:e-?mail|message|request|question|complaint|letter|inquiry|note)\b)?`,
    'uy',
  ),
  new RegExp(
    String.raw`(?:(?:the|our|my|all|every|each|both|these|those|all (?:the|our))\s+)?(?:(?!(?:${STOP})\b)[\p{L}-]{1,30}\s+){0,3}?(?:${KIND_OF_PERSON})(?![\p{L}\p{N}'’])`,
    'iuy',
  ),
  /(?:him|her|them|everyone|everybody|all of them|all)(?![\p{L}\p{N}@'’])/iuy,
  new RegExp(String.raw`(?:the|our|my)\s+(?:(?!(?:${STOP})\b)[\p{L}-]{1,30}\s*){1,3}`, 'iuy'),
  new RegExp(String.raw`(?!(?:${STOP})(?![\p{L}\p{N}]))\p{Ll}[\p{Ll}'’-]{1,30}(?=\s|$)`, 'uy'),
];
const LOWER_CASE_WORD = ITEMS.length - 1;

/** "Ada from Acme", "customers on the waiting list": belongs to the person when a clause follows. */
const ATTACHED = new RegExp(
  String.raw`\s+(?:(?:from|at|of|with)\s+${NAME}|(?:on|in|of|from|with|at|who|whose)\s+(?:[\p{L}\p{N}-]{1,30}\s+){1,6}?(?=(?:that|whether|about|regarding)\b))`,
  'uy',
);
const SEPARATOR = /\s*(?:,\s*(?:and\s+)?|;\s*|&\s*|\band\s+|\bplus\s+)/iuy;

export function addressedIn(text: string): Addressed {
  const found: string[] = [];
  let at = 0;
  while (found.length < 100) {
    const item = itemAt(text, at, found.length === 0);
    if (item === undefined) break;
    found.push(item);
    at += item.length + lengthAt(ATTACHED, text, at + item.length);
    const separator = lengthAt(SEPARATOR, text, at);
    // "Ada, and ask ..." ends at Ada: only a further person continues the list.
    if (separator === 0 || itemAt(text, at + separator, false) === undefined) break;
    at += separator;
  }
  return { to: found.flatMap(addresseesOf), content: text.slice(at).replace(/^[\s,]+/, '') };
}

function itemAt(text: string, at: number, first: boolean): string | undefined {
  for (const [index, item] of ITEMS.entries()) {
    // A bare word in lower case is a name only at the start: "ada and ask" names one person.
    if (index === LOWER_CASE_WORD && !first) continue;
    item.lastIndex = at;
    const match = item.exec(text)?.[0].trimEnd();
    if (match !== undefined && match !== '') return match;
  }
  return undefined;
}

function lengthAt(expression: RegExp, text: string, at: number): number {
  expression.lastIndex = at;
  return expression.exec(text)?.[0].length ?? 0;
}

const TRAILING_LINK = { to: /\s+to\s+(?=[^\n]{1,300}$)/gi, with: /\s+with\s+(?=[^\n]{1,300}$)/gi } as const;
const PERSONAL = new RegExp(String.raw`\b(?:him|her|them|everyone|everybody|all|${KIND_OF_PERSON})\b`, 'i');

/** Somebody one writes to, rather than a thing that a verb handles. */
export function isPersonal(addressee: Addressee): boolean {
  if (addressee.email !== null) return true;
  return addressee.name === null ? PERSONAL.test(addressee.text) : !addressee.guessed;
}

/** "announce the launch to list@example.com": where nothing in front names a recipient. */
export function trailingAddressed(content: string, link: 'to' | 'with' = 'to'): Addressed | null {
  const clause = /^\s*(?:that|whether|if)\b/i.test(content);
  for (const match of content.matchAll(TRAILING_LINK[link])) {
    const { to, content: behind } = addressedIn(content.slice(match.index + match[0].length));
    // Inside a clause only an address is certain: "that they should write to Bob" doesn't address Bob.
    const certain = clause ? to.every((one) => one.email !== null) : to.every(isPersonal);
    if (to.length > 0 && certain && !/[\p{L}\p{N}]/u.test(behind))
      return { to, content: content.slice(0, match.index) };
  }
  return null;
}
