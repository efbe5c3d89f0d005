import { cutText } from '../../../platform/kernel/text.js';
import { LIMITS } from '../action-params.js';
import { moneyIn } from '../money.js';
import { ask, matchAt, type Move } from './move.js';
import { oneLine, type Passage } from './text.js';
import * as words from './words.js';

/** A move and where it ends in the text. */
interface Found {
  move: Move;
  end: number;
}

/** `Raise a warning signal: ...`, to the end of the entry. */
export function signalAt(text: string, entry: string, at: number): Found | undefined {
  const match = matchAt(words.SIGNAL, entry, at);
  const body = text.slice(at + (match?.[0].length ?? 0), entry.length).trim();
  if (!match || !/\S/.test(body)) return undefined;
  const severity = /criti|kriti|crític/iu.test(match[0])
    ? 'critical'
    : /warn|alert|alarm|señal/iu.test(match[0])
      ? 'warning'
      : 'info';
  const params = { type: 'report', severity, title: firstWords(body), body: cutText(body, LIMITS.signal) };
  return { move: { type: 'signal.raise', params, asked: [] }, end: entry.length };
}

/** `Write a document "title": ...`, to the end of the entry; without a title the first words are it. */
export function documentAt(
  text: string,
  quotes: readonly Passage[],
  entry: string,
  at: number,
): Found | undefined {
  const match = matchAt(words.DOCUMENT, entry, at);
  if (!match) return undefined;
  const behind = at + match[0].length;
  const { title: titled, colon } = match.groups!;
  const body = text.slice(behind, entry.length).trim();
  const isFigures =
    titled === undefined &&
    (body.length < 120 || !colon) &&
    words.FIGURES_ONLY.test(`${match[0]} ${colon ? body : ''}`);
  if (isFigures && matchAt(words.FIGURES, entry, at)) return undefined;
  const titleAt = titled === undefined ? -1 : at + match[0].lastIndexOf(titled);
  const quote = quotes.find((each) => each.start === behind && each.end === entry.trimEnd().length);
  const isGiven = colon !== undefined && body !== '';
  const title = quotes.find((each) => each.start === titleAt)?.text ?? (isGiven ? firstWords(body) : '');
  const asked = [
    ...(title === '' ? [ask('title', 'Write a title.')] : []),
    ...(isGiven ? [] : [ask('body', `Write the text. The directive says: “${text}”`)]),
  ];
  const params = {
    title: cutText(oneLine(title), LIMITS.title),
    body: isGiven ? cutText(quote?.text ?? body, LIMITS.document) : '',
  };
  const end = isGiven ? entry.length : at + matchAt(words.TO_SENTENCE_END, entry, at)![0].length;
  return { move: { type: 'document.file', params, asked }, end };
}

/** `Record 120 EUR from Acme`, to the end of the sentence. */
export function recordAt(text: string, entry: string, at: number): Found | undefined {
  const match = matchAt(words.RECORD, entry, at);
  const sentence = matchAt(words.TO_SENTENCE_END, entry, at)![0];
  const isFollowed = sentence.search(words.AND_MAIL);
  const end = at + (isFollowed < 0 ? sentence.length : isFollowed);
  const said = text.slice(at, end).trim();
  const [sum, ...others] = match ? moneyIn(said) : [];
  if (!sum || /(?:^|\s)[-−][€$£]?\s?\d|refund|erstattung|remboursement|reembolso/iu.test(said))
    return undefined;
  const masked = entry.slice(at, end);
  const names = [...masked.matchAll(words.SOURCE)].map(({ groups }) => groups!['name']!.trim());
  const source = names.length === 1 ? cutText(names[0]!, LIMITS.source) : '';
  const isPlain =
    others.length === 0 && sum.amount !== undefined && !words.IF.test(masked) && !words.NEGATED.test(masked);
  const params = {
    ...(isPlain && { amount: sum.amount, currency: sum.currency }),
    ...(source !== '' && { source }),
    description: cutText(said, LIMITS.description),
  };
  const asked = [
    ...(isPlain
      ? []
      : [
          ask('amount', `Which amount is it? The directive says “${said}”.`),
          ask('currency', 'In which currency? Such as EUR.'),
        ]),
    ...(source === '' ? [ask('source', 'From whom did the money come?')] : []),
  ];
  return { move: { type: 'revenue.record', params, asked }, end };
}

/** The first sentence, as a title. */
function firstWords(text: string): string {
  const line = oneLine(text.split('\n', 1)[0]!);
  return cutText((/^.{8,}?[.!?](?=\s)/u.exec(line)?.[0] ?? line).replace(/[.,:;]+$/u, ''), 78);
}
