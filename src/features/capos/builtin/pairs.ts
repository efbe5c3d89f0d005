import { cutText } from '../../../platform/kernel/text.js';
import type { Ask } from './asks.js';
import type { DraftBuilder } from './draft-builder.js';
import { oneLine, within } from './text.js';
import * as words from './words.js';

const MAX_SENTENCES = 200;

/** Each text in quotation marks with the addresses before it or behind it, where the two alternate. */
export function pairsOf({ whole }: DraftBuilder, ask: Ask): Ask[] {
  if (ask.said) return [ask];
  const head = { start: ask.start, end: ask.headEnd };
  const passages = [
    ...within(head, whole.quotes).map((each) => ({ ...each, is: 'Q' })),
    ...within(head, whole.addresses).map((each) => ({ ...each, is: 'A' })),
  ].toSorted((a, b) => a.start - b.start);
  const order = passages.map(({ is }) => is).join('');
  if (!/^(?:(?:QA+){2,}|(?:A+Q){2,})$/.test(order)) return [ask];
  const between = passages.map(({ start }, index) =>
    whole.masked.slice(index === 0 ? ask.start : passages[index - 1]!.end, start),
  );
  const behind = whole.masked.slice(passages.at(-1)!.end, ask.headEnd);
  const isOther = (text: string) =>
    words.at(text, words.ROLES.cc) >= 0 ||
    words.at(text, words.ROLES.bcc) >= 0 ||
    words.NOT_TO.test(text) ||
    words.SUBJECT.test(text) ||
    words.TITLED.test(text);
  const isList = passages.every(
    ({ is }, index) =>
      is === 'Q' || passages[index - 1]?.is !== 'A' || words.NAMED_NEXT.test(between[index]!),
  );
  if ([...between, behind].some(isOther) || /[\p{L}\p{N}]{2}/u.test(behind) || !isList) return [ask];
  const last = order.startsWith('Q') ? 'A' : 'Q';
  const ends = passages
    .filter(({ is }, index) => is === last && passages[index + 1]?.is !== last)
    .map(({ end }) => end);
  return ends.map((end, index) => ({
    ...ask,
    start: index === 0 ? ask.start : ends[index - 1]!,
    end,
    headEnd: end,
  }));
}

/** A sentence within the text behind a colon that may ask for something else, such as "Also let mark@... know". */
export function doubtfulIn({ whole }: DraftBuilder, ask: Ask): string | undefined {
  if (!ask.said) return undefined;
  const { start, end } = ask.said;
  const masked = whole.masked.slice(start, end);
  // A text on lines of its own is one text, but for its last line.
  const isBelow = /^\s*\n/.test(masked) || whole.masked[start - 1] === '\n';
  const from = isBelow ? masked.trimEnd().lastIndexOf('\n') : 0;
  for (const mark of [...masked.matchAll(words.NEXT_SENTENCE)].slice(0, MAX_SENTENCES)) {
    const next = mark.index + mark[0].length;
    const sentence = masked.slice(next).split(/\n|[.!?…](?=\s|$)/u, 1)[0]!;
    const says = (each: RegExp) => words.at(sentence, each) >= 0;
    const isAsk = sentence.includes('\uFDD1')
      ? [words.MAIL, words.ROLES.cc, words.SEQUENCE].some(says)
      : says(words.MAIL) && says(words.AS_WELL) && !says(words.TO_ME);
    if (mark.index < from || !(isAsk || words.LABEL.test(sentence))) continue;
    const said = cutText(oneLine(whole.text.slice(start + next, start + next + sentence.length)), 200);
    return `Is “${said}” part of the message, or is it for somebody else? Edit the message.`;
  }
  return undefined;
}
