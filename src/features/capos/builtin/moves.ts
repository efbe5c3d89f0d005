import { cutText } from '../../../platform/kernel/text.js';
import { LIMITS } from '../action-params.js';
import type { Action, ActionTypeName } from '../action-types.js';
import type { NeededInput } from '../briefing.js';
import { DRAFT_BOUNDS } from '../draft-bounds.js';
import { titleOf } from '../draft-output.js';
import { moneyIn } from '../money.js';
import { Marks, oneLine } from './marks.js';
import { Parts } from './parts.js';
import { anyOf, isA } from './words.js';

type Params = Record<string, unknown>;
/** `doubts`: why a value may not be what is meant; `left`: what the directive says besides. */
export type Move = {
  type: ActionTypeName;
  params: Params;
  asked: NeededInput[];
  doubts?: readonly string[];
  left?: readonly string[];
};
type Found = Move & { end: number };

export const ask = (name: string, message: string): NeededInput => ({
  path: `params.${name}`,
  message: cutText(oneLine(cutText(message, 4_000)), DRAFT_BOUNDS.reason),
});
export const lacksText = ({ text }: Marks) => ask('body', `Write the text. The directive says: “${text}”`);
export const titleOfMove = (move: object) => titleOf(move as Action);

/** A move that is no mail: what reads it, and where the word stands that names it. */
export function headAt(marks: Marks, from: number, last: number) {
  const noun = marks.chain(from, 'raise', 'signal');
  const signal = noun !== undefined && marks.is(noun + 1, 'signal') ? noun + 1 : noun;
  if (signal !== undefined) return { move: signalMove, at: signal };
  const document = marks.chain(from, 'file', 'document');
  if (document !== undefined && !marks.isAddress(marks.past(document + 1)))
    return { move: documentMove, at: document };
  return isRecord(marks, from, last) ? { move: revenueMove, at: from } : undefined;
}

/** What begins here and is no mail. */
export function moveAt(marks: Marks, from: number, last: number): Found | undefined {
  const head = headAt(marks, from, last);
  return head?.move(marks, head.at, last, from);
}

/** The text stands behind a colon. */
function signalMove(marks: Marks, noun: number, last: number, from: number): Found {
  const colon = marks.is(noun + 1, 'polite') ? noun + 2 : noun + 1;
  const { body: text = '', doubts, left, to, end } = new Parts(marks, colon, last);
  const [severity = 'info', ...others] = marks.slice(from, colon).match(/critical|warning|info/gi) ?? [];
  const body = marks.isSign(colon, ':') && others.length === 0 ? cutText(text, LIMITS.signal) : '';
  const isMore = (at: number) => marks.isStart(at) && headAt(marks, at, end) !== undefined;
  const isOpen = marks.find(colon + 2, end, isMore) !== undefined;
  const params = { type: 'report', severity: severity.toLowerCase(), title: firstWords(body), body };
  const asked = body === '' ? [ask('title', 'Write a title.'), lacksText(marks)] : [];
  const more = isOpen ? ['A part of the text may not belong to it.'] : [];
  return { type: 'signal.raise', params, asked, doubts: [...doubts, ...more], left: [...left, ...to], end };
}

/** What a document is about, or for whom, changes nothing. */
const FOR = /^(?:for|about|on|für|über|zu|pour|sur|para|sobre)$/i;
function documentMove(marks: Marks, noun: number, last: number): Found {
  const isTitled = marks.kind(noun + 1) === 'quote' && noun + 2 < last;
  const isMark = (at: number) => marks.isColon(at) || marks.labels.has(at) || marks.kind(at) === 'quote';
  const isAbout = FOR.test(marks.word(noun + 1));
  const topic = isAbout ? marks.find(noun + 1, marks.sentenceEnd(noun), isMark) : undefined;
  const parts = new Parts(marks, topic ?? noun + (isTitled ? 2 : 1), last);
  const { subject, body = '', doubts, to, end } = parts;
  const title = oneLine((isTitled ? marks.word(noun + 1) : subject) ?? firstWords(body));
  const asked = title === '' ? [ask('title', 'Write a title.')] : [];
  if (body === '') asked.push(lacksText(marks));
  const params = { title: cutText(title, LIMITS.title), body };
  const left = [...parts.left, ...to, ...(isTitled && subject !== undefined ? [subject || parts.said] : [])];
  return { type: 'document.file', params, asked, doubts: body ? doubts : [], left, end };
}

function firstWords(text: string): string {
  const line = oneLine(text.trim().split('\n', 1)[0]!);
  const sentence = (/^.{8,}?[.!?](?=\s)/u.exec(line)?.[0] ?? line).replace(/[.,:;]+$/u, '');
  return sentence.length > 78 ? cutText(sentence, 78).replace(/\s\S*$/, ' …') : sentence;
}

/** "Record 50 EUR ...", or "We got 50 EUR ..., please book it." */
function isRecord(marks: Marks, from: number, last: number): boolean {
  const verb = marks.chain(from, 'record');
  const end = marks.sentenceEnd(verb ?? from);
  const isIncome = (at: number) => marks.is(at, 'income');
  const isSum = moneyIn(marks.slice(verb ?? from, end)).length > 0;
  if (verb !== undefined) {
    const next = marks.past(verb + 1);
    const isVague = /^(?:book|enter|add|put|buche?|trage?)$/i.test(marks.word(verb));
    const isMoney = isIncome(next) || /^(?:[A-Z]{3}$|\d)/.test(marks.word(next));
    return isMoney || (!isVague && (isSum || marks.find(verb, end, isIncome) !== undefined));
  }
  const isBooked = (at: number) =>
    marks.is(at, 'record') && (marks.isFiller(at + 1) || at + 1 >= end || isIncome(at + 1));
  const isSaid = (marks.find(from, end, isBooked) ?? marks.chain(end, 'record')) !== undefined;
  return marks.isStart(from) && isSaid && end <= last && isSum;
}

const STOPS = anyOf('around', 'condition', 'purpose', 'income', 'record');
const NAME = String.raw`(?!(?=\p{Ll})${STOPS}|and\s+\d)[\p{L}&][\p{L}\p{N}&.'’-]*`;
const ARTICLE = String.raw`\s+(?:(?:the|our|a|an|der|dem|den|die|das|einer|einem)\s+)?`;
const SOURCE = new RegExp(String.raw`${anyOf('from')}${ARTICLE}(?<name>${NAME}(?:\s+${NAME})*)`, 'u');
const BEHIND = anyOf('condition', 'polite', 'record');
const PURPOSE = new RegExp(
  String.raw`(?:${anyOf('purpose')}${ARTICLE}|,\s+(?=[\p{Lu}\d]))(?<name>\S(?:(?!,?\s*${BEHIND})[^\n])*)`,
  'u',
);
/** One word, or a name in capitals. */
const PAYER = /^(?:\S+$|\p{Lu}(?!.*\s(?!(?:and|und|et|y|of|de|du|von|van|der|la)\s)\p{Ll}))/u;
const SPENT = /(?<!\p{L})(?:we|i|wir|ich)\s(?:have\s|just\s|also\s)*paid(?!\p{L})|(?<=^|\s)[-−][€$£]?\s?\d/iu;

function revenueMove(marks: Marks, from: number, last: number): Found {
  const sentence = Math.min(last, marks.sentenceEnd(from));
  const isMail = (at: number) => marks.is(at, 'and') && marks.verbAt(at + 1) !== undefined;
  const first = marks.find(from, sentence, isMail) ?? sentence;
  const isBookedNext = marks.find(from, first, (at) => marks.is(at, 'record')) === undefined;
  const end = isBookedNext ? Math.min(last, marks.sentenceEnd(first)) : first;
  const said = marks.slice(from, end);
  const [sum, ...others] = moneyIn(said);
  let rest = said.replace(sum?.text ?? '', ' ');
  const take = (expression: RegExp) => {
    const { 0: all = '', groups } = expression.exec(rest) ?? {};
    rest = rest.replace(all, ' ; ');
    const name = groups?.['name'] ?? '';
    return /\b(?:ltd|inc|co|corp|bros)\.$/i.test(name) ? name : name.replace(/[\s.,;!]+$/, '');
  };
  const named = take(SOURCE);
  const isOne = others.length === 0 && !SOURCE.test(rest);
  const money = isOne && sum?.amount !== undefined ? sum : undefined;
  const source = isOne && PAYER.test(named) && !isA('filler', named) ? named : undefined;
  const description = cutText(take(PURPOSE), LIMITS.description) || undefined;
  const unknown = new Marks(rest);
  const isKnown = (at: number) =>
    unknown.isFiller(at) || unknown.is(at, 'record', 'income', 'around', 'my', 'link');
  const words = unknown.tokens.filter((_each, at) => !isKnown(at)).map(({ text }) => text);
  const asked: NeededInput[] = [];
  if (!money) asked.push(ask('amount', `Which amount is it? The directive says “${said}”.`));
  if (!money) asked.push(ask('currency', 'In which currency? Such as EUR.'));
  if (!source) asked.push(ask('source', `From whom did the money come? The directive says “${said}”.`));
  const params = { amount: money?.amount, currency: money?.currency, source, description };
  const left = asked.length === 0 && words.length > 0 ? [words.join(' ')] : [];
  return { type: 'revenue.record', params, asked, left, end };
}

/** Money that was paid out or comes back is no revenue. */
export const isSpent = (marks: Marks, from: number, end: number): boolean =>
  SPENT.test(marks.slice(from, end)) || marks.find(from, end, (at) => marks.is(at, 'spent')) !== undefined;
