import { cutText } from '../../../platform/kernel/text.js';
import { LIMITS } from '../action-params.js';
import type { Briefing } from '../briefing.js';
import { moneyIn } from '../money.js';
import { ask, type Move } from './move.js';
import { matchAt, oneLine, type Text } from './text.js';
import * as words from './words.js';

type Found = (Move & { end: number }) | undefined;

export function figuresAt(briefing: Briefing, { text }: Text, entry: string, at: number): Found {
  if (!matchAt(words.FIGURES, entry, at)) return undefined;
  const title = oneLine(text.slice(at, entry.length)).replace(/[\s.!?:]+$/u, '');
  const params = { title: cutText(title, LIMITS.title), body: figuresOf(briefing) };
  return { type: 'document.file', params, asked: [], end: entry.length };
}

/** `Raise a warning signal: ...`, to the end of the entry. */
export function signalAt({ text }: Text, entry: string, at: number): Found {
  const match = matchAt(words.SIGNAL, entry, at);
  const start = at + (match?.[0].length ?? 0);
  const body = cutText(text.slice(start, entry.length).trim(), LIMITS.signal);
  if (!match || body === '') return undefined;
  const { severity = match.groups!['noun'] ?? 'info' } = match.groups!;
  const params = { type: 'report', severity: severity.toLowerCase(), title: firstWords(body), body };
  return { type: 'signal.raise', params, asked: doubtsIn(entry, start), end: entry.length };
}

/** `Write a document "title": ...`, to the end of the entry; without a title the first words are it. */
export function documentAt({ text, quotes }: Text, entry: string, at: number): Found {
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

/** `Record 120 EUR from Acme`, to the end of the sentence. */
export function recordAt({ text }: Text, entry: string, at: number): Found {
  const match = matchAt(words.RECORD, entry, at);
  const sentence = matchAt(words.TO_SENTENCE_END, entry, at)![0];
  const mailAt = sentence.search(words.AND_MAIL);
  const masked = mailAt < 0 ? sentence : sentence.slice(0, mailAt);
  const end = at + masked.length;
  const said = text.slice(at, end).trim();
  const [sum, ...others] = match ? moneyIn(said) : [];
  if (!sum || /(?:^|\s)[-−][€$£]?\s?\d/u.test(said) || matchAt(words.SPENT, masked, 0)) return undefined;
  const sources = [...masked.matchAll(words.SOURCE)].map(({ groups }) => groups!['name']!.trim());
  const source = sources.length === 1 && { source: cutText(sources[0]!, LIMITS.source) };
  const isPlain = others.length === 0 && sum.amount !== undefined && masked.search(words.PERHAPS) < 0;
  const amount = isPlain && { amount: sum.amount, currency: sum.currency };
  const asked = isPlain ? [] : [ask('amount', `Which amount is it? The directive says “${said}”.`)];
  if (!isPlain) asked.push(ask('currency', 'In which currency? Such as EUR.'));
  if (!source) asked.push(ask('source', 'From whom did the money come?'));
  const params = { ...amount, ...source, description: cutText(said, LIMITS.description) };
  return { type: 'revenue.record', params, asked, end };
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
/** Without grouping, so that nobody reads a comma for a point. */
const sums = (all: Counts) => Object.entries(all).map(([unit, sum]) => `${Number(sum.toFixed(4))} ${unit}`);
const counts = (all: Counts, of: string) => Object.entries(all).map(([kind, n]) => `${n} ${kind} ${of}`);

function figuresOf({ workspace, now, metrics, guardian, figures, ...rest }: Briefing): string {
  const today = { [metrics.currency]: metrics.revenue24h, ...metrics.revenue24hByCurrency };
  const days = (figures?.days ?? []).toReversed().map(({ day, revenue, approvals, signals }) => {
    const parts = [...sums(revenue), ...counts(approvals, 'approvals'), ...counts(signals, 'signals')];
    return `${day}: ${parts.join(', ')}`;
  });
  const open = (figures?.openApprovals ?? []).map(({ title }) => `“${title}”`);
  const sections: [heading: string, lines: string[]][] = [
    ['Revenue of the last 24 hours', sums(today)],
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
