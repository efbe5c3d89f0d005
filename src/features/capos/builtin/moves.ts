import { cutText } from '../../../platform/kernel/text.js';
import { faultsOfArguments, type Operation } from '../../connectors/operation.js';
import { LIMITS } from '../action-params.js';
import type { ActionTypeName } from '../action-types.js';
import type { NeededInput } from '../briefing.js';
import { DRAFT_BOUNDS } from '../draft-bounds.js';
import { moneyIn } from '../money.js';
import type { OutsideTargets } from '../outside-targets.js';
import { Marks, oneLine } from './marks.js';
import { PART } from './parts.js';
import { type Kind, kindsOf } from './words.js';

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

/** What begins here and is no mail. */
export function moveAt(marks: Marks, from: number, last: number): Found | undefined {
  const signal = marks.chain(from, 'raise', 'signal');
  if (signal !== undefined) return filedMove(marks, 'signal.raise', from, signal, last);
  const document = marks.chain(from, 'file', 'document');
  if (document !== undefined && !marks.isAddress(marks.past(document + 1)))
    return filedMove(marks, 'document.file', from, document, last);
  const verb = marks.chain(from, 'record');
  const next = marks.past((verb ?? last) + 1);
  const isSum = marks.is(next, 'income') || /^(?:[A-Z]{3}$|\d)/.test(marks.word(next));
  if (verb !== undefined && isSum) return revenueMove(marks, verb, last);
  const end = marks.sentenceEnd(from);
  const isBooked = (at: number) => marks.is(at, 'record') && marks.past(at + 1) >= end;
  const isSaid = marks.isStart(from) && marks.verbAt(from) === undefined && marks.find(from, end, isBooked);
  return isSaid && moneyIn(marks.slice(from, end)).length > 0 ? revenueMove(marks, from, last) : undefined;
}

/** A signal or a document: its title in quotation marks behind the noun, and all that follows the colon. */
function filedMove(marks: Marks, type: ActionTypeName, from: number, noun: number, last: number): Found {
  const isSignal = type === 'signal.raise';
  const end = marks.sentenceEnd(noun);
  const head = marks.is(noun + 1, 'link', 'signal') ? noun + 2 : noun + 1;
  const isTitled = marks.kind(head) === 'quote';
  const isMark = (at: number) => marks.isColon(at) || marks.labels.has(at);
  const about = marks.is(head, 'purpose') ? marks.find(head, end, isMark) : undefined;
  const begin = about ?? marks.past(isTitled ? head + 1 : head);
  const label = marks.labels.get(begin);
  const isText = label ? label.kind === 'text' : marks.isColon(begin);
  const next = isText ? (label?.next ?? marks.pastLine(begin + 1)) : last;
  const isQuoted = marks.kind(next) === 'quote' && marks.past(next + 1) >= last;
  const text = isQuoted ? marks.word(next) : marks.slice(next, last).trim();
  const isOther = (at: number) => marks.isStart(at) && marks.is(marks.past(at), 'record', 'file', 'raise');
  const isMore = (at: number) => marks.isLoose(at) || marks.isCommand(at) || isOther(at);
  const isWhole = isQuoted || (marks.kind(next) !== 'quote' && marks.find(next, last, isMore) === undefined);
  const said = marks.slice(from, begin);
  const severity = /critical|kritisch/i.test(said) ? 'critical' : /warn/i.test(said) ? 'warning' : 'info';
  const body = isSignal && text.length > LIMITS.signal ? '' : text;
  const title = oneLine(isTitled ? marks.word(head) : cutText(body.replace(/[.,:;]*(?:\n[^]*)?$/, ''), 78));
  const params = { ...(isSignal && { type: 'report', severity }), title: cutText(title, LIMITS.title), body };
  return { type, params, doubts: isWhole ? [] : [PART], end: isText ? last : end };
}

/** One word, or a name in capitals. */
const PAYER = /^(?!.*\d)(?:\S+$|\p{Lu}(?!.*\s(?!(?:and|und|et|y|of|de|du|von|van|der|la)\s)\p{Ll}))/u;

/** One sum, who paid it and what for: any other word asks. */
function revenueMove(marks: Marks, from: number, last: number): Found {
  const isMail = (at: number) => marks.is(at, 'and') && marks.verbAt(at + 1) !== undefined;
  const sentence = Math.min(last, marks.sentenceEnd(from));
  const end = marks.find(from, sentence, isMail) ?? sentence;
  const said = marks.slice(from, end);
  const [sum, ...others] = moneyIn(said);
  const { amount, currency } = others.length === 0 && sum?.amount !== undefined ? sum : {};
  const words = new Marks(said.replace(sum?.text ?? '', ' '));
  const all = words.tokens.length;
  const unknown = new Set(words.tokens.keys());
  const isStop = (at: number) =>
    words.kind(at) === 'word'
      ? !words.isCapital(at) &&
        words.is(at, 'from', 'purpose', 'around', 'condition', 'polite', 'record', 'spent')
      : words.word(at) !== '&' && !(words.isSign(at, '.') && words.isAbbreviation(at - 1));
  const behind = (kind: Kind): string => {
    const at = words.find(0, all, (each) => words.is(each, kind)) ?? all;
    const first = words.is(at + 1, 'my') && !words.isCapital(at + 1) ? at + 2 : at + 1;
    const stop = words.find(first, all, isStop) ?? all;
    for (let each = at; each < stop; each += 1) unknown.delete(each);
    return words.slice(first, stop);
  };
  const [payer, purpose] = [behind('from'), behind('purpose')];
  const source = PAYER.test(payer) && !kindsOf(payer)?.has('filler') ? payer : undefined;
  const description = cutText(purpose, LIMITS.description) || undefined;
  const isKnown = (at: number) =>
    words.is(at, 'record', 'income', 'around', 'my', 'link') ||
    (words.isFiller(at) && !words.isSign(at, '-−'));
  const left = [...unknown].filter((at) => !isKnown(at)).map((at) => words.word(at));
  return { type: 'revenue.record', params: { amount, currency, source, description }, left, end };
}

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
