import { moneyIn } from '../money.js';
import { kindAt, kindOf, MAX_SENTENCE, type Kind, isRevenueLine } from './ask-kinds.js';
import { type Passage, type Text, within } from './text.js';
import * as words from './words.js';

/** One thing that the text asks for, from `start` to `end` of the text. */
export interface Ask {
  start: number;
  end: number;
  kind: Kind;
  /** Where what is to be done ends and the text behind a colon begins; `end` where there is none. */
  headEnd: number;
  /** The text behind a colon. */
  said?: Passage;
}

const ABBREVIATION =
  /(?<![\p{L}\p{N}])(?:mrs?|ms|mm?|dr|prof|st|no|nr|vs|approx|inc|ltd|corp|jr|e\.g|i\.e|z\.b|bzw|ca|max|min|mind|inkl|zzgl|evtl|tel|hr|fr|str|mme|mlle|sra?|\d{1,2})$/iu;
/** Nothing but addresses stands behind the colon. */
const ONLY_ADDRESSES =
  /^\s*[<(]?\uFDD1+[>)]?(?:\s*(?:,|&|(?:and|und|et|y)\s)\s*[<(]?\uFDD1+[>)]?)*[ \t]*[.!]?[ \t]*(?=\n|$)/iu;
/** "jane@...: ..." on a line of its own. */
const ADDRESS_LINE = /^\s*(?:(?:[-*•–]|\(?\d{1,2}[.)])\s*)?(?:(?:to|an|à)\s+)?\uFDD1+\s?[:：]/iu;
const BOUNDARY =
  /(?<colon>：|:(?=[\s\uFDD0\uFDD1\uFDD3]|\p{Lu}|$))|(?<stop>[.!?…。！？]+[)\]]?(?=\s|$)|\uFDD3(?=\s+[^\p{Ll}\s–—-]|\s*$))|(?<line>\n\s*)|(?<item>\s(?=\(?\d{1,2}[.)]\s))/gu;
const ITEM = /^[ \t]*(?:\(?(?<number>\d{1,2})[.)]|[-*•–])[ \t]+/;
/** More than that nobody reads through; where reading ended is said. */
export const MAX_ASKS = 100;
/** How often a sentence is looked at again before it is cut where it is. */
const MAX_LOOKS = 30;

/** What the text asks for, in its order. Each is found by a few steps forward, so the time is linear in the text. */
export function asksOf(whole: Text): Ask[] {
  const { masked } = whole;
  const asks: Ask[] = [];
  for (let start = 0; start < masked.length && asks.length < MAX_ASKS;) {
    const ask = nextAsk(whole, start);
    start = Math.max(ask.end, start + 1);
    if (/[\p{L}\p{N}\uFDD0-\uFDD3]/u.test(masked.slice(ask.start, ask.end))) addAsk(asks, whole, ask);
  }
  return asks;
}

/** What only goes on about the ask before becomes a part of it. */
function addAsk(asks: Ask[], whole: Text, ask: Ask): void {
  const previous = asks.at(-1);
  const head = whole.masked.slice(ask.start, ask.headEnd);
  const goesOn =
    !/[\uFDD1]/.test(head) &&
    (words.PRONOUN.test(head) || (ask.kind === 'unclear' && !words.PLEASANTRY.test(head)));
  const isOpen =
    previous !== undefined &&
    previous.said === undefined &&
    (previous.kind === 'delegation' || within(previous, whole.quotes).length === 0) &&
    ['mail', 'delegation', 'signal', 'unable'].includes(previous.kind);
  // "500 EUR came in from Acme. Please record it."
  const isBooked =
    (ask.kind === 'revenue' || words.BOOK_IT.test(head)) &&
    !/\d/.test(head) &&
    previous?.kind === 'unclear' &&
    moneyIn(whole.text.slice(previous.start, previous.end)).length > 0;
  if (isBooked) Object.assign(previous, { kind: 'revenue', end: ask.end, headEnd: ask.headEnd });
  // "“Hi Bob, ...” Send that to ..."
  else if (
    ask.kind === 'mail' &&
    previous &&
    /^[\s\uFDD0\uFDD3]+$/.test(whole.masked.slice(previous.start, previous.end))
  )
    Object.assign(previous, { ...ask, start: previous.start });
  else if (!goesOn || !isOpen) asks.push(ask);
  else if (ask.said === undefined) Object.assign(previous, { end: ask.end, headEnd: ask.end });
  else Object.assign(previous, { end: ask.end, headEnd: ask.headEnd, said: ask.said });
}

function nextAsk(whole: Text, from: number): Ask {
  const { masked } = whole;
  const item = ITEM.exec(masked.slice(from, from + 20));
  const start = from + (item?.[0].length ?? 0);
  const made = (end: number, headEnd = end, said?: Passage): Ask => {
    const head = masked.slice(start, headEnd);
    const isAnswer =
      /\uFDD1|(?:him|her|them|ihm|ihr|ihnen|lui|leur)[\s,:]*\uFDD0/iu.test(head) &&
      (said !== undefined || /[\uFDD0\uFDD3]/.test(head)) &&
      words.at(head, words.MAIL) >= 0 &&
      words.at(head, words.QUESTION) !== 0;
    const kind = kindOf(head, start === 0 || item !== null);
    return {
      start,
      end,
      headEnd,
      kind: kind === 'document' && isAnswer ? 'mail' : kind,
      ...(said && { said }),
    };
  };
  let looks = 0;
  for (const match of masked.slice(start).matchAll(BOUNDARY)) {
    const { colon, line, stop, item: nextItem } = match.groups!;
    const position = start + match.index;
    const end = position + match[0].length;
    const near = masked.slice(Math.max(start, position - 40), position);
    if (
      colon !== undefined &&
      words.LABEL_END.test(near) &&
      !/(?<!\p{L})leg(?:e|en)?\s[^\uFDD1\n]*\san\s*$/iu.test(near)
    )
      continue;
    if (nextItem !== undefined && !isNextItem(masked, end, item)) continue;
    if (colon !== undefined && isRevenueLine(masked.slice(start, end + 30))) continue;
    if (stop !== undefined) {
      const word = masked.slice(Math.max(start, position - 8), position);
      if (stop === '.' && ABBREVIATION.test(word)) continue;
      // "... in cc?", and the text on the lines below
      const isAbove =
        /^[ \t]*\n/.test(masked.slice(end, end + 20)) && kindOf(masked.slice(start, end)) === 'mail';
      if (isAbove && isTextBelow(masked.slice(start, end), masked.slice(end, end + MAX_SENTENCE).trimStart()))
        continue;
      return made(clauseIn(masked, start, position) ?? end);
    }
    if (
      line !== undefined &&
      [words.LABEL, words.TEXT_LEAD].some((each) => each.test(masked.slice(end, end + 120)))
    )
      continue;
    const cut = clauseIn(masked, start, position);
    if (cut !== undefined) return made(cut);
    const head = masked.slice(start, position);
    const kind = kindOf(
      masked.slice(start, colon === undefined ? position : end),
      start === 0 || item !== null,
    );
    const isBelow =
      line !== undefined && kind === 'mail' && isTextBelow(head, masked.slice(end, end + MAX_SENTENCE));
    if (colon === undefined && !isBelow) return made(end);
    if (kind === 'revenue' && ++looks < MAX_LOOKS) continue;
    // A heading such as "Two things:" asks for nothing by itself.
    if (kind === 'unclear' && !words.BODY_END.test(head)) return made(end);
    if (/^\s*[\uFDD0\uFDD3]/.test(masked.slice(end, end + 20))) continue;
    if (kind === 'mail' && colon !== undefined && !head.includes('\uFDD1')) {
      const behind = masked.slice(end, end + MAX_SENTENCE);
      const addresses = ONLY_ADDRESSES.exec(behind)?.[0];
      if (addresses !== undefined && /\p{L}{2}[^\p{L}]+\p{L}+[^\p{L}]+\p{L}/u.test(head))
        return made(end + addresses.length, position);
      // "Write these mails:", and each line has its own address.
      if (ADDRESS_LINE.test(behind)) return { ...made(end), kind: 'unclear' };
    }
    const last = beforePasted(whole, end, endOfSaid(masked, end, item, kind));
    const text = whole.text.slice(end, last).trim();
    if (text === '') continue;
    return made(last, end, { start: end, end: last, text });
  }
  return made(clauseIn(masked, start, masked.length) ?? masked.length);
}

/** "2) ...", and "2. ..." where this is the first of a list on one line and the second asks for something, too. */
function isNextItem(masked: string, from: number, item: RegExpExecArray | null): boolean {
  const next = ITEM.exec(masked.slice(from, from + 20));
  if (/^\(?\d{1,2}\)/.test(next?.[0] ?? '')) return true;
  const isNext = Number(next?.groups?.['number']) === Number(item?.groups?.['number']) + 1;
  return isNext && kindAt(masked.slice(from + next![0].length, from + MAX_SENTENCE)) !== 'unclear';
}

/** Whether the message is what stands on the lines below: nothing of the ask can be it. */
function isTextBelow(head: string, next: string): boolean {
  const own = head.replace(words.SUBJECT_GIVEN, '');
  if (/[\uFDD0\uFDD3]/.test(own) || ITEM.test(next)) return false;
  if (words.at(own, words.BELOW) >= 0 || own !== head) return true;
  const behind = own.slice(own.lastIndexOf('\uFDD1') + 1);
  const isBare = own.includes('\uFDD1') && !/\p{L}{2}[^\p{L}]+\p{L}/u.test(behind);
  return isBare && kindAt(next.split('\n', 1)[0]!) === 'unclear' && !words.SEQUENCE.test(next);
}

/** What somebody else wrote is no part of a text that stands before it, unless the text goes on behind it. */
function beforePasted({ masked, pasted }: Text, start: number, end: number): number {
  const first = pasted.find((each) => each.start >= start && each.start < end);
  const isAnswered = first?.text.trimStart().startsWith('>') && /\S/.test(masked.slice(first.end, end));
  return first && !isAnswered && /\S/.test(masked.slice(start, first.start)) ? first.start : end;
}

/** Where the text behind a colon ends: at the next item of the list that it is in, or where the next mail is asked for. */
function endOfSaid(masked: string, from: number, item: RegExpExecArray | null, kind: Kind): number {
  const isBelow = /^[^\S\n]*\n/.test(masked.slice(from, from + 20)) || masked[from - 1] === '\n';
  for (const match of masked.slice(from).matchAll(/\n|[.!?\uFDD3](?=\s)|\s(?=\(?\d{1,2}[.)]\s)/gu)) {
    const position = from + match.index + 1;
    const next = masked.slice(position, position + MAX_SENTENCE);
    if (match[0] === '\n' && /^-- ?(?:\n|$)/.test(next)) return position;
    if (match[0] === '\n' && ADDRESS_LINE.test(next)) return position;
    if (match[0] === ' ' && !isNextItem(masked, position, item)) continue;
    // A text on lines of its own goes on to the end of a paragraph.
    if (isBelow && !item && !ITEM.test(next) && masked.slice(position - 2, position) !== '\n\n') continue;
    const nextItem = match[0] === '\n' || match[0] === ' ' ? ITEM.exec(next) : null;
    const number = Number(item?.groups?.['number'] ?? Number.NaN);
    if (item && nextItem) {
      const isNext = Number.isNaN(number)
        ? nextItem.groups?.['number'] === undefined
        : Number(nextItem.groups?.['number']) === number + 1;
      if (isNext) return position;
    }
    if (beginsAsk(next.slice(nextItem?.[0].length ?? 0), kind)) return position;
  }
  return masked.length;
}

/** Strict, since everything else is a part of the message: a mail to an address with its text, or "then" and a plain ask. */
function beginsAsk(text: string, message: Kind): boolean {
  const sequence = words.SEQUENCE.exec(text)?.[0] ?? '';
  const ask = text.slice(sequence.length).split(/[\n!?]|\.\s/, 1)[0]!;
  if (sequence === '' && !ask.includes('\uFDD1')) return false;
  // "And one to ada@acme.example: ..." must not be told to somebody else.
  if (/^(?:\p{L}+,? ){0,5}\uFDD1+\s?:/u.test(ask)) return true;
  const kind = kindOf(ask);
  if (kind === 'mail') {
    if (sequence !== '' && /^(?:to|an|à|para)\s+\uFDD1[^:\uFDD0]{0,40}[:\uFDD0\uFDD3]/iu.test(ask))
      return true;
    return words.at(ask, words.MAIL) === 0 && /^[^:\uFDD0]*\uFDD1[^:\uFDD0]*[\uFDD0\uFDD3:]/.test(ask);
  }
  if (sequence === '') return false;
  if (kind === 'unable') return message !== 'mail' && message !== 'delegation';
  return kind === 'revenue' || kind === 'signal' || kind === 'delegation';
}

/** Where "and also ..." begins something else within a sentence. */
function clauseIn(masked: string, start: number, end: number): number | undefined {
  const sentence = masked.slice(start, end);
  let looks = 0;
  for (const match of sentence.matchAll(words.CLAUSE)) {
    if (++looks > MAX_LOOKS) return undefined;
    const position = match.index + match[0].length;
    const before = sentence.slice(0, match.index);
    const next = sentence.slice(position, position + MAX_SENTENCE);
    const isOther = /^[^,;:]*\uFDD1/.test(next) && !before.includes('\uFDD1');
    if (before.trim() === '' || (words.PRONOUN.test(next) && !isOther)) continue;
    // Each message goes to its own address.
    if (
      /\uFDD1[^\uFDD1]*[\uFDD0\uFDD3]/.test(before) &&
      /^[^\uFDD0\uFDD3]*\uFDD1[^\uFDD0\uFDD3]*[\uFDD0\uFDD3]/.test(next)
    )
      return start + position;
    const kind = kindAt(next);
    if (kind === 'unclear') continue;
    const first = kindOf(before);
    const isFree = first !== 'delegation' && words.at(before, words.DESCRIBES) < 0;
    if (kind === 'delegation' || kind === 'revenue' || kind === 'signal') {
      if (first !== 'delegation' || kind === 'delegation') return start + position;
    } else if (kind === 'mail') {
      const isOwn = /^[^,;]*\uFDD1/.test(next) || (isFree && first !== 'mail' && /\s\p{Lu}/u.test(next));
      if (isOwn && first !== 'delegation' && first !== 'unclear') return start + position;
    } else if (isFree && (kind === 'document' || kind === 'unable') && first !== 'unclear') {
      return start + position;
    }
  }
  return undefined;
}
