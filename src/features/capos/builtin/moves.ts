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

type Type = 'figures' | 'signal' | 'document' | 'revenue';
/** A move that is no mail: what it is, and where the word stands that names it. */
export function headAt(marks: Marks, from: number, last: number): { type: Type; at: number } | undefined {
  const report = marks.chain(from, 'report') ?? marks.chain(from, 'file', 'report');
  const isMark = (at: number) => marks.labels.has(at) || marks.isAddress(at) || marks.kind(at) === 'quote';
  if (report !== undefined && marks.find(report, last, isMark) === undefined) {
    const isFigure = (at: number) => marks.is(at, 'figures');
    if (marks.find(report + 1, last, isFigure) !== undefined || report + 2 >= last)
      return { type: 'figures', at: from };
  }
  const signal = marks.chain(from, 'raise', 'signal');
  if (signal !== undefined)
    return { type: 'signal', at: marks.is(signal + 1, 'signal') ? signal + 1 : signal };
  const document = marks.chain(from, 'file', 'document') ?? marks.chain(from, 'file', 'report');
  if (document !== undefined && !marks.isAddress(marks.past(document + 1)))
    return { type: 'document', at: document };
  return isRecord(marks, from, last) ? { type: 'revenue', at: from } : undefined;
}

/** What begins here and is no mail. */
export function moveAt(figures: () => string, marks: Marks, from: number, last: number): Found | undefined {
  const head = headAt(marks, from, last);
  if (head?.type === 'signal') return signalMove(marks, from, head.at, last);
  if (head?.type === 'document') return documentMove(marks, head.at, last);
  if (head?.type === 'revenue') return revenueMove(marks, from, last);
  const title = cutText(oneLine(marks.slice(from, last)).replace(/[\s.!?:]+$/u, ''), LIMITS.title);
  return head && { type: 'document.file', params: { title, body: figures() }, asked: [], end: last };
}

/** Where a later sentence begins a move of its own. */
function nextMove(marks: Marks, from: number, last: number): number {
  const isMail = (verb: number | undefined) => verb !== undefined && marks.isAddress(marks.past(verb));
  const isMove = (at: number) =>
    marks.isStart(at) && (isMail(marks.verbAt(at)) || headAt(marks, at, last) !== undefined);
  return marks.find(from, last, isMove) ?? last;
}

function signalMove(marks: Marks, from: number, noun: number, last: number): Found {
  const end = nextMove(marks, noun + 2, last);
  const colon = marks.find(noun, end, (at) => marks.isSign(at, ':')) ?? noun;
  const [severity = 'info', ...others] = marks.slice(from, colon + 1).match(/critical|warning|info/gi) ?? [];
  const start = marks.pastLine(colon + 1);
  const isQuoted = marks.kind(start) === 'quote' && start + 1 >= end;
  const body = cutText(isQuoted ? marks.word(start) : marks.slice(start, end), LIMITS.signal);
  const title = firstWords(body);
  const params = { type: 'report', severity: severity.toLowerCase(), title, body };
  const asked = title === '' ? [ask('title', 'Write a title.'), lacksText(marks)] : [];
  const isPlain = colon === noun + 1 && others.length === 0;
  return {
    type: 'signal.raise',
    params,
    asked,
    doubts: isPlain ? [] : ['Check the severity and the text.'],
    end,
  };
}

/** What a document is about, or for whom, changes nothing. */
const FOR = /^(?:for|about|on|für|über|zu|pour|sur|para|sobre)$/i;
function documentMove(marks: Marks, noun: number, last: number): Found {
  const isTitled =
    marks.kind(noun + 1) === 'quote' && (noun + 2 < last || !/[.!?]$/.test(marks.word(noun + 1)));
  const isMark = (at: number) => marks.isColon(at) || marks.labels.has(at) || marks.kind(at) === 'quote';
  const topic = FOR.test(marks.word(noun + 1))
    ? marks.find(noun + 1, marks.sentenceEnd(noun), isMark)
    : undefined;
  const from = topic ?? noun + (isTitled ? 2 : 1);
  const { subject, body = '', doubts, left, to, end } = new Parts(marks, from, last);
  const title = oneLine((isTitled ? marks.word(noun + 1) : subject) ?? firstWords(body));
  const asked = title === '' ? [ask('title', 'Write a title.')] : [];
  if (body === '') asked.push(lacksText(marks));
  const params = { title: cutText(title, LIMITS.title), body };
  return { type: 'document.file', params, asked, doubts: body ? doubts : [], left: [...left, ...to], end };
}

function firstWords(text: string): string {
  const line = oneLine(text.trim().split('\n', 1)[0]!);
  const sentence = (/^.{8,}?[.!?](?=\s)/u.exec(line)?.[0] ?? line).replace(/[.,:;]+$/u, '');
  return sentence.length > 78 ? cutText(sentence, 78).replace(/\s\S*$/, ' …') : sentence;
}

/** "Record 50 EUR ...", or "We got 50 EUR ..., please book it." */
function isRecord(marks: Marks, from: number, last: number): boolean {
  const verb = marks.chain(from, 'record');
  if (verb !== undefined) {
    const next = marks.past(verb + 1);
    const isMoney =
      marks.is(next, 'income') ||
      /^(?:[A-Z]{3}$|\d|[€$£-])/.test(marks.word(next)) ||
      marks.isSign(next - 1, '€$£-');
    const end = marks.sentenceEnd(verb);
    const isSum =
      marks.find(verb, end, (at) => marks.is(at, 'income')) !== undefined ||
      moneyIn(marks.slice(verb, end)).length > 0;
    return isMoney || (isSum && !/^(?:book|enter|add|put|buche?|trage?)$/i.test(marks.word(verb)));
  }
  const end = marks.sentenceEnd(from);
  const isBooked = (at: number) =>
    marks.is(at, 'record') && (marks.isFiller(at + 1) || at + 1 >= end || marks.is(at + 1, 'income'));
  const isSaid =
    marks.isStart(from) && (marks.find(from, end, isBooked) ?? marks.chain(end, 'record')) !== undefined;
  return isSaid && end <= last && moneyIn(marks.slice(from, end)).length > 0;
}

const STOPS = anyOf('behind', 'condition', 'purpose', 'income');
const NAME = String.raw`(?!(?=\p{Ll})${STOPS}|and\s+\d)[\p{L}&][\p{L}\p{N}&.'’-]*`;
const NAMES = `(?<name>${NAME}(?:\\s+${NAME})*)`;
const ARTICLE = '(?:(?:the|our|a|an|der|dem|den|die|das|einer|einem|la|le|el)\\s+)?';
const SOURCE = new RegExp(`${anyOf('from')}\\s+${ARTICLE}${NAMES}`, 'u');
const CAPITAL = String.raw`\p{Lu}[\p{L}&.'’-]*`;
const PAYS = String.raw`(?:${anyOf('paid')}|(?:just|has|have|hat|haben)\s)`;
const PAYER = new RegExp(
  String.raw`(?:^|[,:;.]\s*)(?<name>(?!We\b|I\b)${CAPITAL}(?:\s+(?:&|${CAPITAL}))*)\s+${PAYS}`,
  'u',
);
const BEHIND = anyOf('condition', 'polite', 'record');
const PURPOSE = new RegExp(
  String.raw`(?:${anyOf('purpose')}\s+${ARTICLE}|,\s+(?=[\p{Lu}\d]))(?<name>\S(?:(?!,?\s*${BEHIND})[^\n])*)`,
  'u',
);

/** A number without a currency, before it is said from whom or for what the money came. */
const BARE = new RegExp(
  `^(?:(?!${anyOf('from', 'purpose')})[^\\d\\n,]){0,60}(?<digits>\\d[\\d.,]*\\d|\\d)`,
  'u',
);

function revenueMove(marks: Marks, from: number, last: number): Found {
  const sentence = Math.min(last, marks.sentenceEnd(from));
  const isMail = (at: number) => marks.is(at, 'and') && marks.verbAt(at + 1) !== undefined;
  const first = marks.find(from, sentence, isMail) ?? sentence;
  const isBookedNext = first < last && marks.find(from, first, (at) => marks.is(at, 'record')) === undefined;
  const end = isBookedNext ? Math.min(last, marks.sentenceEnd(first)) : first;
  const said = marks.slice(from, end);
  const [sum, ...others] = moneyIn(said);
  const digits = sum ? undefined : BARE.exec(said)?.groups!['digits'];
  let rest = said;
  const take = (expression: RegExp | string) => {
    const found = rest.match(expression);
    const name = found?.groups?.['name'] ?? found?.[0] ?? '';
    if (found) rest = rest.replace(found[0], ' ; ');
    return /\b(?:ltd|inc|co|corp|bros)\.$/i.test(name) ? name : name.replace(/[\s.,;!]+$/, '');
  };
  for (const each of sum ? [sum, ...others].map(({ text }) => text) : [digits ?? ''])
    rest = rest.replace(each, ' ');
  const source = take(SOURCE) || take(PAYER);
  const isSeveral = SOURCE.test(rest);
  const isPlain = others.length === 0 && !isSeveral;
  const description = take(PURPOSE);
  const unknown = new Marks(rest);
  const isUnknown = (at: number) =>
    !unknown.isFiller(at) && !unknown.is(at, 'record', 'income', 'received', 'my', 'link');
  const left = unknown.tokens
    .filter((_each, at) => isUnknown(at))
    .map(({ text }) => text)
    .join(' ');
  const amount = isPlain ? (sum ?? moneyIn(`EUR ${digits}`)[0])?.amount : undefined;
  const asked: NeededInput[] = [];
  if (amount === undefined) asked.push(ask('amount', `Which amount is it? The directive says “${said}”.`));
  if (amount === undefined || !sum) asked.push(ask('currency', 'In which currency? Such as EUR.'));
  if (source === '' || isSeveral) asked.push(ask('source', 'From whom did the money come?'));
  const isWord = /^\S+$/.test(source) && !isA('filler', source);
  const isName =
    isWord || /^\p{Lu}(?!.*\s(?!(?:and|und|et|y|of|de|du|von|van|der|la)\s)\p{Ll})/u.test(source);
  const params = {
    amount,
    currency: amount === undefined ? undefined : sum?.currency,
    source: (!isSeveral && source) || undefined,
    description: cutText(description, LIMITS.description) || undefined,
  };
  const doubts = isName || source === '' ? [] : [`Is “${source}” who paid?`];
  return { type: 'revenue.record', params, asked, doubts, left: left ? [left] : [], end };
}

/** Money that was paid out or comes back is no revenue. */
export function isSpent(marks: Marks, from: number, end: number): boolean {
  const said = marks.slice(from, end);
  const isOurs =
    /(?<!\p{L})(?:we|i|wir|ich)\s(?:have\s|just\s|also\s)*paid(?!\p{L})|(?<=^|\s)[-−][€$£]?\s?\d/iu;
  return isOurs.test(said) || marks.find(from, end, (at) => marks.is(at, 'spent')) !== undefined;
}
