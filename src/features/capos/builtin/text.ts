import { cutText } from '../../../platform/kernel/text.js';

/** Small operations on running text. All of them are linear in the length of the text. */

/** Longer instructions are read up to here; no person writes one, and the patterns below are then bounded too. */
export const READABLE = 8_000;

/** Well-formed text without control characters; line breaks survive as `\n`. */
export function plain(text: string, max = READABLE): string {
  return (
    clip(text, max)
      .replace(/\r\n?|[\u2028\u2029]/g, '\n')
      // oxlint-disable-next-line no-control-regex -- what a mail or a page must not contain is removed at the door
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufeff]/g, '')
      .replace(/[\t\u00a0\u202f ]+/g, ' ')
      .replace(/ ?\n ?/g, '\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim()
  );
}

/** The same on one line. */
export function oneLine(text: string, max = READABLE): string {
  return plain(text, max).replace(/\s+/g, ' ');
}

/** At most `max` UTF-16 units, cut at a word where one is near. */
export function clip(text: string, max: number): string {
  const cut = cutText(text, max);
  if (text.length <= max) return cut;
  const space = cut.lastIndexOf(' ');
  return space > max * 0.6 ? `${cut.slice(0, space).trimEnd()}…` : cut;
}

export function capitalised(text: string): string {
  const first = text.match(/^["“'(]*\p{Ll}/u)?.[0];
  // `iPhone`, `eBay`: a lower-case letter followed by an upper-case one is somebody's spelling.
  if (first === undefined || /^["“'(]*\p{Ll}\p{Lu}/u.test(text)) return text;
  return first.toUpperCase() + text.slice(first.length);
}

/** Lower-cases the first letter, unless the word is a name, an abbreviation or `I`. */
export function uncapitalised(text: string): string {
  const word = text.match(/^\p{L}+/u)?.[0] ?? '';
  return SENTENCE_OPENERS.test(word) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

const SENTENCE_OPENERS =
  /^(?:A|An|The|This|That|These|Those|Our|Your|His|Her|Their|We|You|He|She|They|It|There|If|When|Whether|To|For|On|In|At|By|About)$/;

/** A whole sentence: capital letter in front, one stop at the end. */
export function sentence(text: string): string {
  const trimmed = capitalised(text.trim().replace(/[\s,;:–-]+$/, ''));
  if (trimmed === '') return '';
  return /[.!?…]["”’)]*$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

export function withoutStop(text: string): string {
  return text.trim().replace(/[\s.,;:!?]+$/, '');
}

/** "a", "a and b", "a, b and c" */
export function listed(items: readonly string[]): string {
  if (items.length < 2) return items[0] ?? '';
  return `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}

export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`;
}

/** Sentences of running text; abbreviations, decimals and addresses don't end one. */
export function sentencesOf(text: string): string[] {
  return text
    .split(
      /(?<=[.!?…]["”’)]?)(?<!\b(?:e\.g|i\.e|Mr|Mrs|Ms|Dr|St|No|vs|approx|Inc|Ltd|Co)\.)\s+(?=["“'(]?[\p{Lu}\p{Lo}\d])|\n+/u,
    )
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

const COMMON = new Set(
  (
    'a an and are as at be been before but by can could did do does for from had has have her here his how i if in ' +
    'into is it its just let me my next no not of on one or our out please she should so some than that the their ' +
    'them then there they this to up us was we were what when where which who why will with would you your send ' +
    'email mail write tell ask about know make sure need want new this week day today tomorrow'
  ).split(' '),
);

/** The words that carry meaning, as stems, for comparing one text with another. */
export function keywords(text: string): Set<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  return new Set(words.filter((word) => !COMMON.has(word)).map(stem));
}

export function sharedKeywords(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const word of a) if (b.has(word)) shared += 1;
  return shared;
}

/** A deliberately light stemmer: invoice/invoices/invoicing and ship/shipped/shipping meet, little else does. */
export function stem(word: string): string {
  let root = word.toLowerCase().replace(/['’]s?$/, '');
  if (root.length > 4) root = root.replace(/ies$/, 'y').replace(/(?<=s|x|z|ch|sh)es$/, '');
  if (root.length > 3) root = root.replace(/(?<![su])s$/, '');
  if (root.length > 5) root = root.replace(/(?:ing|ed)$/, '').replace(/([bdgmnprt])\1$/, '$1');
  return root.length > 3 ? root.replace(/e$/, '') : root;
}

/** Text from elsewhere, made harmless inside Markdown: one line, no links, no markup of its own. */
export function quotedInline(text: string, max = 300): string {
  return oneLine(text, max).replace(/[\\`*_[\]<>#|]/g, '\\$&');
}
