import { lookAlike } from '../../../platform/kernel/look-alikes.js';
import { cutText } from '../../../platform/kernel/text.js';
import { isMailAddress } from '../action-params.js';
import * as words from './words.js';

type Passage = Record<'start' | 'end', number> & { text: string };
const READABLE = 20_000;
const LINK = /https?:\/\/[^\s\uFDD0]{1,2000}/gu;
const CONTROLS = /(?![\t\n])[\p{Cc}\ufeff\ufdd0-\ufdd3]/gu;
export const clean = (text: string) => text.toWellFormed().replace(/\r\n?/g, '\n').replace(CONTROLS, '');
export type Text = ReturnType<typeof readText>;

/** In `masked`, at the same positions: quoted words U+FDD0 (the last U+FDD3 where they end a sentence), addresses U+FDD1, links U+FDD2, others' words blank, brackets around a field U+000C and U+000B. */
export function readText(given: string) {
  const text = clean(cutText(given, READABLE, '')).trimEnd();
  const [quotes, addresses, lookAlikes]: [Passage[], Passage[], Passage[]] = [[], [], []];
  const unquoted = text.replace(words.QUOTED, (whole: string, ...found: unknown[]) => {
    const start = found.at(-2) as number;
    const inner = (found.find((each) => each !== undefined) as string).trim();
    if (inner === '' || isMailAddress(inner)) return whole;
    quotes.push({ start, end: start + whole.length, text: inner });
    return '\uFDD0'.repeat(whole.length - 1) + (/[.!?…]$/.test(inner) ? '\uFDD3' : '\uFDD0');
  });
  const unlinked = unquoted.replace(LINK, (link) => '\uFDD2'.repeat(link.length));
  const own = unlinked.replace(words.QUOTED_LINE, (line) => line.replaceAll(/[^\n]/g, ' '));
  const cut = own.search(words.PASTED);
  const before = own.slice(0, cut).replace(words.BRACKETED, (all) => `\f${all.slice(1, -1)}\v`);
  const masked = before.trimEnd().replace(words.ADDRESS, (said, start: number) => {
    const isAlike = /\P{ASCII}/u.test(said) && (!isMailAddress(said) || lookAlike(said) !== undefined);
    if (!isAlike && !isMailAddress(said)) return said;
    (isAlike ? lookAlikes : addresses).push({ start, end: start + said.length, text: said });
    return '\uFDD1'.repeat(said.length);
  });
  const unread = cut < own.length ? [text.slice(cut)] : [];
  if (own !== unlinked) unread.push('the lines that begin with “>”');
  if (given.length > READABLE) unread.push(`all that stands behind the first ${READABLE} characters`);
  const forbidden = [...masked.matchAll(words.FORBIDDEN)];
  const excluded = forbidden.flatMap(({ index, 0: all }) => within(index, index + all.length, addresses));
  return { text, masked, quotes, addresses, lookAlikes, excluded, unread, named: addressesIn(unlinked) };
}

/** What a group matched, without its quotation marks, where it stands in them. */
export function saidIn({ text, quotes }: Text, { indices }: RegExpExecArray, name: string): string {
  const [start, end] = indices!.groups![name] ?? [0, 0];
  const said = text.slice(start, end).trim();
  return quotes.find((each) => each.start === start && each.end === start + said.length)?.text ?? said;
}

export const addressesIn = (text: string) => (text.match(words.ADDRESS) ?? []).filter(isMailAddress);
export const within = (start: number, end: number, passages: readonly Passage[]): string[] =>
  passages.filter((each) => each.start >= start && each.end <= end).map(({ text }) => text);
export const isFramed = (value: string, masked = ''): boolean =>
  !/[\uFDD0\uFDD3]$/.test(masked) && value.replace(words.NO_BRACKET, '').trim().search(words.FRAMED) >= 0;
export const oneLine = (text: string): string => text.replace(/[\s\u2028\u2029]+/g, ' ').trim();

export const matchAt = (expression: RegExp, text: string, at: number): RegExpExecArray | undefined =>
  Object.assign(expression, { lastIndex: at }).exec(text) ?? undefined;

/** Up to the end of the sentence, or to where it goes on to another task. */
export function taskAt(masked: string, at: number, next: RegExp): string {
  const [sentence] = matchAt(words.TO_SENTENCE_END, masked, at)!;
  const further = sentence.search(next);
  return further < 0 ? sentence : sentence.slice(0, further);
}
