import { cutText } from '../../../platform/kernel/text.js';
import { LIMITS } from '../action-params.js';
import type { Action, ActionTypeName } from '../action-types.js';
import type { Briefing, NeededInput } from '../briefing.js';
import { DRAFT_BOUNDS } from '../draft-bounds.js';
import { titleOf } from '../draft-output.js';
import { figuresOf } from '../figures-document.js';
import { moneyIn } from '../money.js';
import { matchAt, oneLine, taskAt, type Text } from './text.js';
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
  const isNamed = command && (sum ?? ((name && bare) || matchAt(words.NAMES_SUM, masked, 0)));
  const isIn = masked.search(isWish ? words.PAID_OR_IN : words.CAME_IN) >= 0;
  const isSaid = sum && name && isIn && (isWish || entry.slice(behind).trim() === '');
  if (!(isNamed || (isSaid && !matchAt(words.NO_INCOME, masked, 0))) || matchAt(words.SPENT, masked, 0))
    return undefined;
  const isPlain = others.length === 0 && masked.search(words.PERHAPS) < 0;
  const amount = isPlain ? (sum ?? moneyIn(`EUR ${bare}`)[0])?.amount : undefined;
  const asked: NeededInput[] = [];
  if (amount === undefined) asked.push(ask('amount', `Which amount is it? The directive says “${said}”.`));
  if (amount === undefined || !sum) asked.push(ask('currency', 'In which currency? Such as EUR.'));
  if (name === '') asked.push(ask('source', 'From whom did the money come?'));
  const rest = name !== '' && !payer ? said.replace(sources[0]![0], ' ') : said;
  const [purpose = /,\s+(?<what>[^\n]{3,}?)[\s.!]*$/u.exec(rest)] = rest.matchAll(words.PURPOSE);
  const description = cutText(purpose?.groups!['what']!.trim() ?? '', LIMITS.description);
  const params = {
    ...(amount !== undefined && { amount, ...(sum && { currency: sum.currency }) }),
    ...(name !== '' && { source: cutText(name, LIMITS.source) }),
    ...(description !== '' && { description }),
  };
  return {
    type: 'revenue.record',
    params,
    asked,
    end: Math.max(behind, isWish ? at + wish.index + wish[0].length : 0),
  };
}

const doubtsIn = (entry: string, start: number) => {
  const question = ask('body', 'Is this the text, and nothing else? A part of it may be meant for the capo.');
  return entry.slice(start).search(words.NEXT) < 0 ? [] : [question];
};

function firstWords(text: string): string {
  const line = oneLine(text.split('\n', 1)[0]!);
  return cutText((/^.{8,}?[.!?](?=\s)/u.exec(line)?.[0] ?? line).replace(/[.,:;]+$/u, ''), 78);
}
