import { cutText } from '../../../platform/kernel/text.js';
import { type Arguments, faultsOfArguments, type Operation } from '../../connectors/operation.js';
import type { ParamSchema } from '../../connectors/param-schema.js';
import { LIMITS } from '../action-params.js';
import type { Action, ActionTypeName } from '../action-types.js';
import type { Briefing, NeededInput } from '../briefing.js';
import { DRAFT_BOUNDS } from '../draft-bounds.js';
import { titleOf } from '../draft-output.js';
import { moneyIn } from '../money.js';
import type { DestinationTarget, OutsideTargets } from '../outside-targets.js';
import { matchAt, oneLine, type Text } from './text.js';
import * as words from './words.js';

export interface Move {
  type: ActionTypeName;
  params: Record<string, unknown>;
  asked: NeededInput[];
}

export const ask = (name: string, message: string): NeededInput => ({
  path: `params.${name}`,
  message: cutText(oneLine(cutText(message, 4_000)), DRAFT_BOUNDS.reason),
});

export const titleOfMove = ({ type, params }: { type: string; params: object }) =>
  titleOf({ type, params } as unknown as Action);

type Found = (Move & { end: number }) | undefined;

/** What stands here besides mails. */
export const moveAt = (briefing: Briefing, ...place: [Text, entry: string, at: number]): Found =>
  figuresAt(briefing, ...place) ?? signalAt(...place) ?? documentAt(...place) ?? recordAt(...place);

function figuresAt(briefing: Briefing, { text }: Text, entry: string, at: number): Found {
  if (!matchAt(words.FIGURES, entry, at)) return undefined;
  const title = oneLine(text.slice(at, entry.length)).replace(/[\s.!?:]+$/u, '');
  const params = { title: cutText(title, LIMITS.title), body: figuresOf(briefing) };
  return { type: 'document.file', params, asked: [], end: entry.length };
}

function signalAt({ text }: Text, entry: string, at: number): Found {
  const match = matchAt(words.SIGNAL, entry, at);
  const start = at + (match?.[0].length ?? 0);
  const body = cutText(text.slice(start, entry.length).trim(), LIMITS.signal);
  if (!match || body === '') return undefined;
  const { severity = match.groups!['noun'] ?? 'info' } = match.groups!;
  const params = { type: 'report', severity: severity.toLowerCase(), title: firstWords(body), body };
  return { type: 'signal.raise', params, asked: doubtsIn(entry, start), end: entry.length };
}

function documentAt({ text, quotes }: Text, entry: string, at: number): Found {
  const match = matchAt(words.DOCUMENT, entry, at);
  if (!match) return undefined;
  const start = at + match[0].length;
  const { title: titled = '', colon } = match.groups!;
  const rest = colon === undefined ? '' : text.slice(start, entry.length).trim();
  const titleAt = at + match[0].lastIndexOf(titled);
  const quoted = (from: number) => quotes.find((each) => each.start === from);
  const title = oneLine((titled && quoted(titleAt)?.text) || firstWords(rest));
  const isQuote = rest !== '' && quoted(start)?.end === entry.trimEnd().length;
  const body = cutText(isQuote ? quoted(start)!.text : rest, LIMITS.document);
  const lacking = [ask('body', `Write the text. The directive says: “${text}”`)];
  const asked = rest === '' ? lacking : doubtsIn(entry, start);
  if (title === '') asked.unshift(ask('title', 'Write a title.'));
  const params = { title: cutText(title, LIMITS.title), body };
  const end = rest === '' ? at + matchAt(words.TO_SENTENCE_END, entry, at)![0].length : entry.length;
  return { type: 'document.file', params, asked, end };
}

/** "Record 50 EUR from ..."; or a sentence that says who paid, if that is all or is to be booked. */
export function recordAt({ text }: Text, entry: string, at: number): Found {
  const command = matchAt(words.RECORD, entry, at);
  const sentence = matchAt(words.TO_SENTENCE_END, entry, at)![0];
  const mailAt = sentence.search(words.AND_MAIL);
  const masked = mailAt < 0 ? sentence : sentence.slice(0, mailAt);
  const [wish] = command
    ? []
    : entry.slice(at, at + masked.length + (mailAt < 0 ? 200 : 0)).matchAll(words.BOOK_IT);
  const isWish = wish !== undefined && wish.index <= masked.length;
  const isAll = isWish || entry.slice(at).trim() === masked.trim();
  const isIn = masked.search(words.CAME_IN) >= 0 || (isWish && masked.search(words.THEY_PAID) >= 0);
  const end = at + Math.max(masked.length, isWish ? wish.index + wish[0].length : 0);
  const said = text.slice(at, isWish ? at + wish.index : at + masked.length).trim();
  const bare = command && new RegExp(words.BARE_SUM.source, 'u').exec(masked)?.groups!['digits'];
  const [sum, ...others] = moneyIn(said);
  const payer = command ? undefined : matchAt(words.PAYER, masked, 0);
  const sources = payer ? [payer] : [...masked.slice(0, said.length).matchAll(words.SOURCE)];
  const source = sources.length === 1 && {
    source: cutText(sources[0]!.groups!['name']!.trim(), LIMITS.source),
  };
  const isNamed =
    command && (sum ?? (source && bare) ?? matchAt(words.NAMES_SUM, entry, at + command[0].length));
  const isSaid = isAll && isIn && sum && source && !/\?\s*$/.test(masked);
  const isMinus = /(?:^|\s)[-−][€$£]?\s?\d/u.test(said);
  if (!(isNamed || isSaid) || isMinus || matchAt(words.SPENT, masked, 0)) return undefined;
  const isPlain = others.length === 0 && masked.search(words.PERHAPS) < 0;
  const amount = isPlain ? (sum ?? moneyIn(`EUR ${bare}`)[0])?.amount : undefined;
  const asked: NeededInput[] = [];
  if (amount === undefined) asked.push(ask('amount', `Which amount is it? The directive says “${said}”.`));
  if (amount === undefined || !sum) asked.push(ask('currency', 'In which currency? Such as EUR.'));
  if (!source) asked.push(ask('source', 'From whom did the money come?'));
  const rest = source && !payer ? said.replace(sources[0]![0], ' ') : said;
  const [purpose = /,\s*(?<what>[^\n]{3,}?)[\s.!]*$/u.exec(rest)] = rest.matchAll(words.PURPOSE);
  const description = cutText(purpose?.groups!['what']!.trim() ?? '', LIMITS.description);
  const given = {
    ...(amount !== undefined && { amount, ...(sum && { currency: sum.currency }) }),
    ...source,
  };
  return { type: 'revenue.record', params: { ...given, ...(description && { description }) }, asked, end };
}

const doubtsIn = (entry: string, start: number) => {
  const question = ask('body', 'Is this the text, and nothing else? A part of it may be meant for the capo.');
  return entry.slice(start).search(words.NEXT) < 0 ? [] : [question];
};

function firstWords(text: string): string {
  const line = oneLine(text.split('\n', 1)[0]!);
  return cutText((/^.{8,}?[.!?](?=\s)/u.exec(line)?.[0] ?? line).replace(/[.,:;]+$/u, ''), 78);
}

type Counts = Readonly<Record<string, number>>;
const sums = (all: Counts) => Object.entries(all).map(([unit, sum]) => `${Number(sum.toFixed(4))} ${unit}`);
const counts = (all: Counts, of: string) => Object.entries(all).map(([kind, n]) => `${n} ${kind} ${of}`);

function figuresOf({ workspace, now, metrics, guardian, figures, ...rest }: Briefing): string {
  const days = (figures?.days ?? []).toReversed().map(({ day, revenue, approvals, signals }) => {
    const parts = [...sums(revenue), ...counts(approvals, 'approvals'), ...counts(signals, 'signals')];
    return `${day}: ${parts.join(', ')}`;
  });
  const open = (figures?.openApprovals ?? []).map(({ title }) => `“${title}”`);
  const sections: [heading: string, lines: string[]][] = [
    [
      'Revenue of the last 24 hours',
      sums({ [metrics.currency]: metrics.revenue24h, ...metrics.revenue24hByCurrency }),
    ],
    [`By day, since ${figures?.since ?? ''}`, days],
    ['Approvals', [`${guardian.pending} waiting for a decision`, ...open]],
    ['Open signals', rest.signals.map(({ severity, title }) => `${severity}: ${title}`)],
    ['Newest work', rest.recentPackets.map(({ title, status }) => `${title}: ${status}`)],
  ];
  const parts = sections
    .filter(([, lines]) => lines.length > 0)
    .map(([heading, lines]) => `## ${heading}\n\n${lines.map((line) => `- ${oneLine(line)}`).join('\n')}`);
  const asOf = `${workspace.name}, as of ${new Date(now).toISOString().slice(0, 16).replace('T', ' ')} UTC.`;
  return cutText([asOf, ...parts].join('\n\n'), LIMITS.document);
}

type Groups = Readonly<Record<string, string | undefined>>;

const CALL =
  /^\s*(?:please\s+)?call\s+(?:the\s+)?(?<label>operation\s+)?(?<called>[\w-]{1,60}(?:\s[\w-]{1,60}){0,3}?)\s+of\s+(?:the\s+)?(?<place>connector\s+)?(?<connector>[\w-]{1,60})(?:\s+with\s+(?<args>[^]+?))?\s*\.?\s*$/iu;
const PAIR =
  /([A-Za-z][\w-]{0,59})\s*[=:]\s*(?:“([^”]*)”|"([^"]*)"|([^,;\n“"]{1,2000}?))\s*(?=[,;\n]|$|\sand\s+[A-Za-z][\w-]{0,59}\s*[=:])/gu;
const POST =
  /^\s*(?:please\s+)?post\s+(?:“(?<a>[^“”]+)”|"(?<b>[^"]+)")\s+to\s+(?:the\s+)?webhook\s+(?<name>[^:\n]{1,300}?)\s*\.?\s*$/iu;

/** `Call ... of ... with a = b` or `Post "..." to the webhook ...`, where that is all of the directive; a text says why not. */
export function outsideIn(text: string, targets: OutsideTargets): Move | string | undefined {
  if (text.length > 10_000) return undefined;
  const call = CALL.exec(text)?.groups;
  const post = POST.exec(text)?.groups;
  return call ? callOf(targets.operations, call) : post && postOf(targets.destinations, post);
}

const listed = (names: readonly string[]) => `There are: ${names.slice(0, 20).join(', ') || 'none'}.`;

function postOf(all: readonly DestinationTarget[], { a, b, name = '' }: Groups): Move {
  const found = all.find((each) => [each.destinationId, plain(each.description)].includes(plain(name)));
  const there = listed(all.map((each) => `${each.description} (${each.destinationId})`));
  const params = { ...(found && { destinationId: found.destinationId }), data: { text: a ?? b } };
  const asked = found ? [] : [ask('destinationId', `Which webhook is it? ${there}`)];
  return { type: 'webhook.post', params, asked };
}

const nameOf = ({ operation, connector }: Operation) => `${operation} of ${connector}`;
function callOf(all: readonly Operation[], said: Groups): Move | string | undefined {
  const { called = '', connector = '', label, place, args = '' } = said;
  const name = plain(`${called} of ${connector}`);
  const found = all.find((each) => plain(nameOf(each)) === name);
  if (found) {
    const { given, asked } = argumentsFrom(found, args);
    const params = { connector: found.connector, operation: found.operation, arguments: given };
    return { type: 'http.call', params, asked };
  }
  // “Call Jane of Acme” is about somebody else.
  if (!label && !place && !called.includes('_') && !args.includes('=')) return undefined;
  return `There is no operation ${called} of ${connector}. ${listed(all.map(nameOf))}`;
}

/** `email = jane@acme.example, name = “Jane”`; whatever does not fit is asked about. */
function argumentsFrom(operation: Operation, text: string): { given: Arguments; asked: NeededInput[] } {
  const { properties } = operation.params;
  const given: Record<string, unknown> = {};
  const rest = text.replace(PAIR, (_pair, name: string, a?: string, b?: string, bare?: string) => {
    given[name] = valueIn(a ?? b ?? bare!.trim(), properties[name]);
    return ' ';
  });
  const asked: NeededInput[] = [];
  if (/[\p{L}\p{N}]{2}/u.test(rest.replace(/\band\b/gi, ' ')))
    asked.push(ask('arguments', `Is “${rest.trim()}” to be a part of the call?`));
  for (const { path, message } of faultsOfArguments(operation, given)) {
    const name = path.split('.')[0]!;
    const said = given[name] === undefined ? '' : ` The directive says ${JSON.stringify(given[name])}.`;
    delete given[name];
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const question = `What is ${name}? ${known?.description ?? ''} It ${message}.${said}`;
    if (known) asked.push(ask(`arguments.${name}`, question));
    else asked.push(ask('arguments', `“${name}” is not a parameter of this operation.`));
  }
  return { given, asked };
}

function valueIn(text: string, schema: ParamSchema | undefined): unknown {
  const isNumber = schema?.type === 'number' || schema?.type === 'integer';
  if (isNumber) return /^-?\d{1,15}(?:\.\d{1,10})?$/.test(text) ? Number(text) : text;
  return schema?.type === 'boolean' && /^(?:true|false|yes|no)$/i.test(text) ? /^[ty]/i.test(text) : text;
}

const plain = (name: string) => name.replace(/[\s_-]+/g, '_').toLowerCase();
