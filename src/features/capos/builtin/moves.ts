import { cutText } from '../../../platform/kernel/text.js';
import { faultsOfArguments, type Operation } from '../../connectors/operation.js';
import { LIMITS } from '../action-params.js';
import type { ActionTypeName } from '../action-types.js';
import type { NeededInput } from '../briefing.js';
import { DRAFT_BOUNDS } from '../draft-bounds.js';
import { moneyIn } from '../money.js';
import type { OutsideTargets } from '../outside-targets.js';
import { Marks, oneLine } from './marks.js';
import { PART, Parts } from './parts.js';
import { anyOf, kindsOf } from './words.js';

/**
 * A parameter that is empty is asked for. `asked`: what is asked besides; `doubts`: why a value may not be what is meant; `left`: what the directive
 * says besides.
 */
export type Move = {
  type: ActionTypeName;
  params: Record<string, unknown>;
  asked?: NeededInput[];
  doubts?: readonly string[];
  left?: readonly string[];
};
type Found = Move & { end: number };

export const ask = (name: string, message: string): NeededInput => ({
  path: `params.${name}`,
  message: cutText(oneLine(cutText(message, 4_000)), DRAFT_BOUNDS.reason),
});

/** The word that names a move that is no mail. */
export function headAt(marks: Marks, from: number, last: number) {
  const noun = marks.chain(from, 'raise', 'signal');
  const signal = noun !== undefined && marks.is(noun + 1, 'signal') ? noun + 1 : noun;
  if (signal !== undefined) return { type: 'signal.raise', at: signal } as const;
  const document = marks.chain(from, 'file', 'document');
  if (document !== undefined && !marks.isAddress(marks.past(document + 1)))
    return { type: 'document.file', at: document } as const;
  return isRecord(marks, from, last) ? ({ type: 'revenue.record', at: from } as const) : undefined;
}

/** What begins here and is no mail. */
export function moveAt(marks: Marks, from: number, last: number): Found | undefined {
  const head = headAt(marks, from, last);
  if (head?.type === 'revenue.record') return revenueMove(marks, from, last);
  return head && filedMove(marks, head.type, from, head.at, last);
}

/** What a document is about, or for whom, changes nothing. */
const FOR = /^(?:for|about|on|für|über|zu|pour|sur|para|sobre)$/i;
const SEVERITIES: Record<string, string> = { c: 'critical', k: 'critical', w: 'warning' };

/** A signal or a document: its text stands behind a colon. */
function filedMove(marks: Marks, type: ActionTypeName, from: number, noun: number, last: number): Found {
  const isSignal = type === 'signal.raise';
  const isMark = (at: number) => marks.isColon(at) || marks.labels.has(at) || marks.kind(at) === 'quote';
  const isTitled = !isSignal && marks.kind(noun + 1) === 'quote' && noun + 2 < last;
  const isAbout = !isSignal && FOR.test(marks.word(noun + 1));
  const topic = isAbout ? marks.find(noun + 3, marks.sentenceEnd(noun), isMark) : undefined;
  const next = topic ?? noun + (isTitled ? 2 : 1);
  const { subject, body = '', to, end, doubts, left } = new Parts(marks, next, last);
  left.push(...to, ...(isTitled && subject !== undefined ? [subject] : []));
  const isMore = (at: number) =>
    marks.isStart(at) && ((isSignal && marks.is(at, 'command')) || headAt(marks, at, end) !== undefined);
  if (marks.find(next + 1, end, isMore) !== undefined) doubts.push(PART);
  const [severity = 'info', ...others] =
    marks.slice(from, next).match(/critical|warning|info|kritisch|warnung/gi) ?? [];
  const isSure = marks.isSign(marks.past(next), ':') && others.length === 0 && body.length <= LIMITS.signal;
  const text = isSignal && !isSure ? '' : body;
  const title = oneLine((isTitled ? marks.word(noun + 1) : subject) ?? firstWords(text));
  const kind = { type: 'report', severity: SEVERITIES[severity[0]!.toLowerCase()] ?? 'info' };
  const params = { ...(isSignal && kind), title: cutText(title, LIMITS.title), body: text };
  return { type, params, doubts: text ? doubts : [], left, end };
}

function firstWords(text: string): string {
  const line = oneLine(text.trim().split('\n', 1)[0]!);
  const sentence = (/^.{8,}?[.!?](?=\s)/u.exec(line)?.[0] ?? line).replace(/[.,:;]+$/u, '');
  return sentence.length > 78 ? cutText(sentence, 78).replace(/\s\S*$/, ' …') : sentence;
}

/** "Record 50 EUR ...", or "We got 50 EUR ..., please book it." */
function isRecord(marks: Marks, from: number, last: number): boolean {
  const verb = marks.chain(from, 'record');
  if (verb === undefined && !marks.isStart(from)) return false;
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
  return isSaid && end <= last && isSum;
}

const STOPS = anyOf('around', 'condition', 'purpose', 'income', 'record');
const NAME = String.raw`(?!(?=\p{Ll})${STOPS}|and\s+\d)[\p{L}&][\p{L}\p{N}&.'’-]*`;
const ARTICLE = String.raw`:?\s+(?:(?:the|our|a|an|der|dem|den|die|das|einer|einem)\s+)?`;
const SOURCE = new RegExp(String.raw`${anyOf('from')}${ARTICLE}(?<name>${NAME}(?:\s+${NAME})*)`, 'u');
const BEHIND = String.raw`${anyOf('condition', 'polite', 'record')}|(?<!\p{L})ein[.!]?$|\S{1,64}@`;
const PURPOSE = new RegExp(
  String.raw`(?:${anyOf('purpose')}${ARTICLE}|,\s+(?=[\p{Lu}\d]))(?<name>\S(?:(?!,?\s*(?:${BEHIND}))[^\n:"“”„])*)`,
  'u',
);
/** One word, or a name in capitals. */
const PAYER = /^(?:\S+$|\p{Lu}(?!.*\s(?!(?:and|und|et|y|of|de|du|von|van|der|la)\s)\p{Ll}))/u;
const SPENT = /(?<!\p{L})(?:we|i|wir|ich)\s(?:have\s|just\s|also\s)*paid(?!\p{L})|(?<=^|\s)[-−][€$£]?\s?\d/iu;

/** One sum, who paid it and what for: any other word asks. */
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
    return (groups?.['name'] ?? '').replace(/(?:[\s,;!]|(?<!\b(?:ltd|inc|co|corp|bros))\.)+$/i, '');
  };
  const named = take(SOURCE);
  const isOne = others.length === 0 && !SOURCE.test(rest);
  const [amount, currency] = isOne && sum?.amount !== undefined ? [sum.amount, sum.currency] : [];
  const source = isOne && PAYER.test(named) && !kindsOf(named)?.has('filler') ? named : undefined;
  const description = cutText(take(PURPOSE), LIMITS.description) || undefined;
  const words = new Marks(rest);
  const isKnown = (at: number) =>
    words.isFiller(at) || words.is(at, 'record', 'income', 'around', 'my', 'link');
  const unknown = words.tokens.flatMap(({ text }, at) => (isKnown(at) ? [] : [text])).join(' ');
  const left = amount && source && unknown !== '' ? [unknown] : [];
  return { type: 'revenue.record', params: { amount, currency, source, description }, left, end };
}

/** Money that was paid out or comes back is no revenue. */
export const isSpent = (marks: Marks, from: number, end: number): boolean =>
  SPENT.test(marks.slice(from, end)) || marks.find(from, end, (at) => marks.is(at, 'spent')) !== undefined;

const CALL =
  /^\s*(?:please\s+)?call\s+([\w-]{1,60})\s+of\s+(?:the\s+connector\s+)?([\w-]{1,60})(?:\s+with\s+([^]+?))?\s*\.?\s*$/iu;
const POST =
  /^\s*(?:please\s+)?post\s+[“"]([^“”"]+)[”"]\s+to\s+(?:the\s+)?webhook\s+([^:\n]{1,300}?)\s*\.?\s*$/iu;
const PAIR =
  /([A-Za-z][\w-]{0,59})\s*[=:]\s*(?:[“"]([^“”"]*)[”"]|([^,;\n“"]{1,2000}?))\s*(?=[,;\n]|$|\sand\s+[A-Za-z][\w-]{0,59}\s*[=:])/gu;

/** `Call ... of ... with a = b` or `Post "..." to the webhook ...`, where that is all of the directive; a text says why not. */
export function outsideIn(given: string, targets: OutsideTargets): Move | string | undefined {
  const text = given.length > 10_000 ? '' : given;
  const [, posted = '', webhook] = POST.exec(text) ?? [];
  if (webhook) return postTo(targets, webhook, posted);
  const [, called = '', connector = '', args = ''] = CALL.exec(text) ?? [];
  const wanted = `${called} of ${connector}`.toLowerCase();
  const found = targets.operations.find((each) => nameOf(each).toLowerCase() === wanted);
  if (found) return callOf(found, args);
  const isCall = /[_=]/.test(called + args);
  return isCall ? `There is no operation ${wanted}. ${listed(targets.operations.map(nameOf))}` : undefined;
}

const nameOf = ({ operation, connector }: Operation) => `${operation} of ${connector}`;
const listed = (names: readonly string[]) => `There are: ${names.slice(0, 20).join(', ') || 'none'}.`;

function postTo({ destinations }: OutsideTargets, name: string, text: string): Move {
  const isNamed = (said: string) => said.toLowerCase() === name.toLowerCase();
  const found = destinations.find((each) => isNamed(each.destinationId) || isNamed(each.description));
  const there = listed(destinations.map((each) => `${each.description} (${each.destinationId})`));
  const asked = found ? [] : [ask('destinationId', `Which webhook is it? ${there}`)];
  return { type: 'webhook.post', params: { destinationId: found?.destinationId, data: { text } }, asked };
}

/** With `email = jane@acme.example, name = “Jane”`; whatever does not fit is asked about. */
function callOf(operation: Operation, args: string): Move {
  const { properties } = operation.params;
  const given: Record<string, unknown> = {};
  const rest = args.replace(PAIR, (_pair, name: string, quoted?: string, bare = '') => {
    given[name] = valueIn(quoted ?? bare.trim(), properties[name]?.type);
    return ' ';
  });
  const left = rest.replace(/\band\b|[\s,;.]/gi, ' ').trim();
  const asked = left === '' ? [] : [ask('arguments', `Is “${left}” to be a part of the call?`)];
  for (const { path, message } of faultsOfArguments(operation, given)) {
    const [name = ''] = path.split('.');
    const said = given[name] === undefined ? '' : ` The directive says ${JSON.stringify(given[name])}.`;
    const isKnown = Object.hasOwn(properties, name);
    asked.push(ask(isKnown ? `arguments.${name}` : 'arguments', `What is ${name}? It ${message}.${said}`));
    delete given[name];
  }
  const params = { connector: operation.connector, operation: operation.operation, arguments: given };
  return { type: 'http.call', params, asked };
}

function valueIn(text: string, type = ''): unknown {
  if (type === 'boolean' && /^(?:true|false|yes|no)$/i.test(text)) return /^[ty]/i.test(text);
  const isNumber = /^(?:number|integer)$/.test(type) && /^-?\d{1,15}(?:\.\d{1,10})?$/.test(text);
  return isNumber ? Number(text) : text;
}
