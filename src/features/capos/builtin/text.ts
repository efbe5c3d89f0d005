import { lookAlike } from '../../../platform/kernel/look-alikes.js';
import { isMailAddress } from '../action-params.js';

/** What stands in the text word for word, and where. */
export interface Passage {
  start: number;
  end: number;
  /** Without the quotation marks. */
  text: string;
}

/** A text as it is read: positions in `masked` are positions in `text`. */
export interface Text {
  text: string;
  /**
   * Quoted words are U+FDD0 (the last one U+FDD3 where a sentence ends with them), addresses U+FDD1, links U+FDD2: no
   * text holds these, which Unicode keeps for such uses.
   */
  masked: string;
  quotes: readonly Passage[];
  addresses: readonly Passage[];
  /** Addresses that may be taken for another one, such as with a Cyrillic “а”: no mail is sent there, nor to the other one. */
  lookAlikes: readonly Passage[];
}

/** Longer ones are read up to here. */
export const READABLE = 20_000;

// oxlint-disable-next-line no-control-regex -- they have no place in what is sent, and mark what is masked
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufeff\ufdd0-\ufdd3]/g;
/** Each of them ends at its closing mark or before the next opening one, so that reading stays linear. */
const QUOTED =
  /“([^“”]+)[”“]|„([^“”„"]+)[“”"]|«([^«»]+)»|»([^«»]+)«|「([^「」]+)」|(?<![\p{L}\p{N}])"([^"]+)"(?![\p{L}\p{N}])|(?<![\p{L}\p{N}])‘((?:[^‘’]|(?<=\p{L})’(?=\p{L}))+)’|(?<![\p{L}\p{N}])'((?:[^'\n]|(?<=\p{L})'(?=\p{L}))+)'(?![\p{L}\p{N}])/gu;
const ADDRESS =
  /(?<![\p{L}\p{N}._%+@-])[\p{L}\p{N}_][\p{L}\p{N}._%+'-]{0,63}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}[\p{L}]{2,63}(?![\p{L}\p{N}@])/gu;
const LINK = /https?:\/\/[^\s\uFDD0]{1,2000}/gu;

/** Line breaks are `\n`; nothing that a mail must not contain is left. */
export function clean(text: string): string {
  return text.toWellFormed().replace(/\r\n?/g, '\n').replace(CONTROLS, '');
}

export function readText(given: string): Text {
  const text = clean(given).trimEnd();
  const quotes = [...text.matchAll(QUOTED)]
    .map((match) =>
      passage(
        match,
        match
          .slice(1)
          .find((inner) => inner !== undefined)!
          .trim(),
      ),
    )
    .filter((each) => each.text !== '' && !isMailAddress(each.text));
  const unquoted = mask(text, quotes, ({ text: inner }) => (/[.!?…]$/.test(inner) ? '\uFDD3' : '\uFDD0'));
  const links = [...unquoted.matchAll(LINK)].map((match) => passage(match, match[0]));
  const unlinked = mask(unquoted, links, () => '\uFDD2', '\uFDD2');
  const found = mailAddressesIn(unlinked);
  const lookAlikes = found.filter(
    ({ text: each }) => /\P{ASCII}/u.test(each) && (!isMailAddress(each) || lookAlike(each) !== undefined),
  );
  const addresses = found.filter((each) => isMailAddress(each.text) && !lookAlikes.includes(each));
  const masked = mask(
    unlinked,
    [...found.filter((each) => addresses.includes(each) || lookAlikes.includes(each))],
    () => '\uFDD1',
    '\uFDD1',
  );
  return { text, quotes, addresses, lookAlikes, masked };
}

export function addressesIn(text: string): Passage[] {
  return mailAddressesIn(text).filter((each) => isMailAddress(each.text));
}

function mailAddressesIn(text: string): Passage[] {
  return [...text.matchAll(ADDRESS)].map((match) => passage(match, match[0]));
}

function passage({ index, 0: { length } }: RegExpExecArray, text: string): Passage {
  return { start: index, end: index + length, text };
}

function mask(
  text: string,
  passages: readonly Passage[],
  last: (each: Passage) => string,
  filler = '\uFDD0',
) {
  const parts: string[] = [];
  let from = 0;
  for (const each of passages) {
    parts.push(text.slice(from, each.start), filler.repeat(each.end - each.start - 1), last(each));
    from = each.end;
  }
  return [...parts, text.slice(from)].join('');
}

export function within({ start, end }: Omit<Passage, 'text'>, passages: readonly Passage[]): Passage[] {
  return passages.filter((each) => each.start >= start && each.end <= end);
}

/** On one line. */
export function oneLine(text: string): string {
  return text.replace(/[\s\u2028\u2029]+/g, ' ').trim();
}
