import { cutText } from '../../../platform/kernel/text.js';
import { faultsOfArguments, type Operation } from '../../connectors/operation.js';
import { LIMITS } from '../action-params.js';
import type { Action, ActionTypeName } from '../action-types.js';
import type { Briefing, NeededInput } from '../briefing.js';
import { DRAFT_BOUNDS } from '../draft-bounds.js';
import { titleOf } from '../draft-output.js';
import { moneyIn } from '../money.js';
import type { DestinationTarget, OutsideTargets } from '../outside-targets.js';
import { isFramed, matchAt, oneLine, saidIn, taskAt, type Text } from './text.js';
import * as words from './words.js';

type Params = Record<string, unknown>;
export type Move = { type: ActionTypeName; params: Params; asked: NeededInput[]; left?: string[] };

export const ask = (name: string, message: string): NeededInput => ({
  path: `params.${name}`,
  message: cutText(oneLine(cutText(message, 4_000)), DRAFT_BOUNDS.reason),
});
export const lacksText = ({ text }: Text) => ask('body', `Write the text. The directive says: “${text}”`);
export const titleOfMove = (move: object) => titleOf(move as Action);

type Found = (Move & { end: number }) | undefined;
export const moveAt = (briefing: Briefing, ...place: [Text, entry: string, at: number]): Found =>
  figuresAt(briefing, ...place) ?? signalAt(...place) ?? documentAt(...place) ?? recordAt(...place);

function figuresAt(briefing: Briefing, { text }: Text, entry: string, at: number): Found {
  if (!matchAt(words.FIGURES, entry, at)) return undefined;
  const title = oneLine(text.slice(at, entry.length)).replace(/[\s.!?:]+$/u, '');
  const params = { title: cutText(title, LIMITS.title), body: figuresOf(briefing) };
  return { type: 'document.file', params, asked: [], end: entry.length };
}

function signalAt(whole: Text, entry: string, at: number): Found {
  const match = matchAt(words.SIGNAL, entry, at);
  if (!match) return undefined;
  const { text = '', noun = 'info', severity = noun } = match.groups!;
  const body = cutText(saidIn(whole, match, 'text'), LIMITS.signal);
  const params = { type: 'report', severity: severity.toLowerCase(), title: firstWords(body), body };
  return { type: 'signal.raise', params, asked: doubtsIn(text), end: entry.length };
}

function documentAt(whole: Text, entry: string, at: number): Found {
  const match = matchAt(words.DOCUMENT, entry, at);
  if (!match) return undefined;
  const { title: titled = '', text = '' } = match.groups!;
  const [isNoTitle, isNoText] = [titled, ` ${text}`].map((said) => said.search(words.OF_SENTENCE) >= 0);
  const body = isNoText ? '' : saidIn(whole, match, 'text');
  const title = isNoTitle ? '' : oneLine(saidIn(whole, match, 'title') || firstWords(body));
  const asked = body === '' ? [lacksText(whole)] : doubtsIn(text);
  if (title === '') asked.unshift(ask('title', 'Write a title.'));
  const params = { title: cutText(title, LIMITS.title), body };
  const end = text === '' ? at + taskAt(entry, at, words.NEXT_TO_MAIL).length : entry.length;
  return { type: 'document.file', params, asked, end };
}

/** "Record 50 EUR from ..."; or a clause that says who paid, if that is all or is to be booked. */
export function recordAt({ text }: Text, entry: string, at: number): Found {
  const command = matchAt(words.RECORD, entry, at);
  const masked = taskAt(entry, at, words.NEXT_TO_RECORD);
  const behind = at + masked.length;
  const [wish] = command ? [] : entry.slice(at, behind + 200).matchAll(words.BOOK_IT);
  const isWish = wish !== undefined && wish.index <= masked.length;
  const said = text.slice(at, isWish ? at + wish.index : behind).trim();
  const [sum, ...others] = moneyIn(said);
  const bare = command && matchAt(words.BARE_SUM, masked, 0)?.groups!['digits'];
  const payer = command ? undefined : matchAt(words.PAYER, masked, 0);
  const sources = payer ? [payer] : [...masked.slice(0, said.length).matchAll(words.SOURCE)];
  const name = sources.length === 1 ? sources[0]!.groups!['name']!.trim() : '';
  const isNamed = command && (sum ?? ((sources[0] && bare) || matchAt(words.NAMES_SUM, masked, 0)));
  const isIn = masked.search(isWish ? words.PAID_OR_IN : words.CAME_IN) >= 0;
  const isSaid = sum && name && isIn && (isWish || entry.slice(behind).trim() === '');
  const isIncome = isNamed || (isSaid && !matchAt(words.NO_INCOME, masked, 0));
  if (!isIncome || matchAt(words.SPENT, masked, 0)) return undefined;
  const isPlain = others.length === 0 && sources.length < 2 && masked.search(words.PERHAPS) < 0;
  const amount = isPlain ? (sum ?? moneyIn(`EUR ${bare}`)[0])?.amount : undefined;
  const asked: NeededInput[] = [];
  if (amount === undefined) asked.push(ask('amount', `Which amount is it? The directive says “${said}”.`));
  if (amount === undefined || !sum) asked.push(ask('currency', 'In which currency? Such as EUR.'));
  const source = amount !== undefined && name.search(words.BEHIND_NAME) >= 0 ? '' : name;
  if (source === '') asked.push(ask('source', 'From whom did the money come?'));
  const rest = name !== '' && !payer ? said.replace(sources[0]![0], ' ') : said;
  const [purpose = /,\s+(?<what>[^\n]{3,}?)[\s.!]*$/u.exec(rest)] = rest.matchAll(words.PURPOSE);
  const what = purpose?.groups!['what']!.replace(/^[\s,;]+|(?<=^[^(]*)\)$|["“”„«»]/gu, '').trim() ?? '';
  const description = cutText(what, LIMITS.description) || undefined;
  const params = { amount, currency: amount && sum?.currency, source: source || undefined, description };
  const end = Math.max(behind, isWish ? at + wish.index + wish[0].length : 0);
  return { type: 'revenue.record', params, asked, end };
}

const isAll = (text: string) => !isFramed(text, text) && text.search(words.NOT_IN_DOCUMENT) < 0;
const doubtsIn = (text: string) => (isAll(text) ? [] : [ask('body', 'Is all of it the text?')]);

function firstWords(text: string): string {
  const line = oneLine(text.split('\n', 1)[0]!);
  return cutText((/^.{8,}?[.!?](?=\s)/u.exec(line)?.[0] ?? line).replace(/[.,:;]+$/u, ''), 78);
}

type Counts = Readonly<Record<string, number>>;
const sums = (all: Counts) => Object.entries(all).map(([unit, sum]) => `${Number(sum.toFixed(4))} ${unit}`);
const counts = (all: Counts, of: string) => Object.entries(all).map(([kind, n]) => `${n} ${kind} ${of}`);

function figuresOf({ workspace, now, metrics, guardian, figures, signals, recentPackets }: Briefing): string {
  const newest = { [metrics.currency]: metrics.revenue24h, ...metrics.revenue24hByCurrency };
  const days = (figures?.days ?? []).toReversed().map(({ day, revenue, ...counted }) => {
    const events = [...counts(counted.approvals, 'approvals'), ...counts(counted.signals, 'signals')];
    return `${day}: ${[...sums(revenue), ...events].join(', ')}`;
  });
  const open = (figures?.openApprovals ?? []).map(({ title }) => `“${title}”`);
  const sections: Record<string, readonly string[]> = {
    'Revenue of the last 24 hours': sums(newest),
    [`By day, since ${figures?.since ?? ''}`]: days,
    Approvals: [`${guardian.pending} waiting for a decision`, ...open],
    'Open signals': signals.map(({ severity, title }) => `${severity}: ${title}`),
    'Newest work': recentPackets.map(({ title, status }) => `${title}: ${status}`),
  };
  const head = `${workspace.name}, as of ${new Date(now).toISOString().slice(0, 16).replace('T', ' ')} UTC.`;
  const said = Object.entries(sections).flatMap(([heading, lines]) =>
    lines.length > 0 ? [`## ${heading}\n\n${lines.map((line) => `- ${oneLine(line)}`).join('\n')}`] : [],
  );
  return cutText([head, ...said].join('\n\n'), LIMITS.document);
}

/** `Call ... of ... with a = b` or `Post "..." to the webhook ...`, where that is all of the directive; a text says why not. */
export function outsideIn(given: string, targets: OutsideTargets): Move | string | undefined {
  const text = given.length > 10_000 ? '' : given;
  const post = matchAt(words.POST, text, 0)?.groups;
  if (post) return postTo(targets.destinations, post['name']!, post['a'] ?? post['b']!);
  const { called = '', connector = '', args = '' } = matchAt(words.CALL, text, 0)?.groups ?? {};
  const found = targets.operations.find((each) => plain(nameOf(each)) === plain(`${called} of ${connector}`));
  if (found) return callOf(found, args);
  if (called === '' || text.search(words.IS_CALL) < 0) return undefined;
  return `There is no operation ${called} of ${connector}. ${listed(targets.operations.map(nameOf))}`;
}

const plain = (name: string) => name.replace(/[\s_-]+/g, '_').toLowerCase();
const nameOf = ({ operation, connector }: Operation) => `${operation} of ${connector}`;
const listed = (names: readonly string[]) => `There are: ${names.slice(0, 20).join(', ') || 'none'}.`;

function postTo(all: readonly DestinationTarget[], name: string, text: string): Move {
  const found = all.find((each) => [each.destinationId, plain(each.description)].includes(plain(name)));
  const there = listed(all.map((each) => `${each.description} (${each.destinationId})`));
  const params = { ...(found && { destinationId: found.destinationId }), data: { text } };
  const asked = found ? [] : [ask('destinationId', `Which webhook is it? ${there}`)];
  return { type: 'webhook.post', params, asked };
}

/** With `email = jane@acme.example, name = “Jane”`; whatever does not fit is asked about. */
function callOf(operation: Operation, args: string): Move {
  const { properties } = operation.params;
  const given: Record<string, unknown> = {};
  const rest = args.replace(words.PAIR, (_pair, name: string, a?: string, b?: string, bare?: string) => {
    given[name] = valueIn(a ?? b ?? bare!.trim(), properties[name]?.type);
    return ' ';
  });
  const asked: NeededInput[] = [];
  if (/[\p{L}\p{N}]{2}/u.test(rest.replace(/\band\b/gi, ' ')))
    asked.push(ask('arguments', `Is “${rest.trim()}” to be a part of the call?`));
  for (const { path, message } of faultsOfArguments(operation, given)) {
    const [name = ''] = path.split('.');
    const said = given[name] === undefined ? '' : ` The directive says ${JSON.stringify(given[name])}.`;
    const isKnown = Object.hasOwn(properties, name);
    const question = `What is ${name}? ${(isKnown && properties[name]?.description) || ''} It ${message}.${said}`;
    asked.push(ask(isKnown ? `arguments.${name}` : 'arguments', question));
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
