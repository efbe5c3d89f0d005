import { cutText } from '../../../platform/kernel/text.js';
import { LIMITS } from '../action-params.js';
import { moneyIn } from '../money.js';
import { ask, matchAt, type Move } from './move.js';
import { oneLine, type Text } from './text.js';
import * as words from './words.js';

/** A move and where it ends in the text. */
interface Found {
  move: Move;
  end: number;
}

/** `Raise a warning signal: ...`, to the end of the entry. */
export function signalAt({ text }: Text, entry: string, at: number): Found | undefined {
  const match = matchAt(words.SIGNAL, entry, at);
  const body = text.slice(at + (match?.[0].length ?? 0), entry.length).trim();
  if (!match || body === '') return undefined;
  const severity =
    match.groups!['severity']?.toLowerCase() ?? (/signal/i.test(match[0]) ? 'info' : 'warning');
  const params = { type: 'report', severity, title: firstWords(body), body: cutText(body, LIMITS.signal) };
  return {
    move: { type: 'signal.raise', params, asked: doubtsIn(entry, at + match[0].length) },
    end: entry.length,
  };
}

/** `Write a document "title": ...`, to the end of the entry; without a title the first words are it. */
export function documentAt({ text, quotes }: Text, entry: string, at: number): Found | undefined {
  const match = matchAt(words.DOCUMENT, entry, at);
  if (!match) return undefined;
  const start = at + match[0].length;
  const { title: titled, colon } = match.groups!;
  const rest = text.slice(start, entry.length).trim();
  const isGiven = colon !== undefined && rest !== '';
  const quote = quotes.find((each) => each.start === start && each.end === entry.trimEnd().length);
  const titleAt = titled === undefined ? -1 : at + match[0].lastIndexOf(titled);
  const title = quotes.find((each) => each.start === titleAt)?.text ?? (isGiven ? firstWords(rest) : '');
  const asked = [
    ...(title === '' ? [ask('title', 'Write a title.')] : []),
    ...(isGiven ? doubtsIn(entry, start) : [ask('body', `Write the text. The directive says: “${text}”`)]),
  ];
  const params = {
    title: cutText(oneLine(title), LIMITS.title),
    body: isGiven ? cutText(quote?.text ?? rest, LIMITS.document) : '',
  };
  const end = isGiven ? entry.length : at + matchAt(words.TO_SENTENCE_END, entry, at)![0].length;
  return { move: { type: 'document.file', params, asked }, end };
}

/** `Record 120 EUR from Acme`, to the end of the sentence. */
export function recordAt({ text }: Text, entry: string, at: number): Found | undefined {
  const match = matchAt(words.RECORD, entry, at);
  const sentence = matchAt(words.TO_SENTENCE_END, entry, at)![0];
  const mailAt = sentence.search(words.AND_MAIL);
  const end = at + (mailAt < 0 ? sentence.length : mailAt);
  const said = text.slice(at, end).trim();
  const [sum, ...others] = match ? moneyIn(said) : [];
  if (!sum || /(?:^|\s)[-−][€$£]?\s?\d|refund/iu.test(said)) return undefined;
  const masked = entry.slice(at, end);
  const names = [...masked.matchAll(words.SOURCE)].map(({ groups }) => groups!['name']!.trim());
  const source = names.length === 1 ? cutText(names[0]!, LIMITS.source) : '';
  const isPlain = others.length === 0 && sum.amount !== undefined && masked.search(words.PERHAPS) < 0;
  const params = {
    ...(isPlain && { amount: sum.amount, currency: sum.currency }),
    ...(source !== '' && { source }),
    description: cutText(said, LIMITS.description),
  };
  const asked = isPlain
    ? []
    : [
        ask('amount', `Which amount is it? The directive says “${said}”.`),
        ask('currency', 'In which currency? Such as EUR.'),
      ];
  if (source === '') asked.push(ask('source', 'From whom did the money come?'));
  return { move: { type: 'revenue.record', params, asked }, end };
}

/** Whether what is to be written down holds the next instruction. */
const doubtsIn = (entry: string, start: number) =>
  entry.slice(start).search(words.NEXT) < 0
    ? []
    : [ask('body', 'Is this the text, and nothing else? A part of it may be meant for the capo.')];

/** The first sentence, as a title. */
function firstWords(text: string): string {
  const line = oneLine(text.split('\n', 1)[0]!);
  return cutText((/^.{8,}?[.!?](?=\s)/u.exec(line)?.[0] ?? line).replace(/[.,:;]+$/u, ''), 78);
}
