import { cutText } from '../../../platform/kernel/text.js';
import { SIGNAL_TYPES } from '../../signals/signal-types.js';
import { LIMITS } from '../action-params.js';
import type { NeededInput } from '../briefing.js';
import { moneyIn } from '../money.js';
import type { Ask } from './asks.js';
import type { DraftBuilder } from './draft-builder.js';
import { firstWords, messageOf } from './mail.js';
import { oneLine } from './text.js';
import { at, NEGATIVE, NO_NAME, SEVERITIES, SIGNAL_LABEL, SOURCE } from './words.js';

export function prepareRevenue(draft: DraftBuilder, ask: Ask): void {
  const sums = moneyIn(draft.words(ask));
  const begin = draft.whole.text.indexOf(draft.words(ask), ask.start);
  const parts = sums.map(({ index }, position) => ({
    ...ask,
    start: position === 0 ? ask.start : begin + index,
    end: sums[position + 1] ? begin + sums[position + 1]!.index : ask.end,
  }));
  const isSeveral =
    sums.length > 1 &&
    parts.every((part) => [...draft.whole.masked.slice(part.start, part.end).matchAll(SOURCE)].length > 0);
  for (const part of isSeveral ? parts : [ask]) prepareEntry(draft, part);
}

function prepareEntry(draft: DraftBuilder, ask: Ask): void {
  const text = draft.words(ask);
  const sums = moneyIn(text);
  const sum = sums.length === 1 ? sums[0] : undefined;
  if (/(?<!\p{L})(?:refund|erstattung|rückerstattung|remboursement|reembolso)/iu.test(text)) {
    draft.unable('record a refund', ask);
    return;
  }
  if (NEGATIVE.test(text)) {
    refuseNegative(draft, ask);
    return;
  }
  const names = [...draft.whole.masked.slice(ask.start, ask.end).matchAll(SOURCE)]
    .map(({ groups }) => groups!['name']!.trim())
    .filter((name) => !NO_NAME.test(name));
  const given = draft.briefing.directive.context?.['source'];
  const source =
    names.find((name) => /^\p{Lu}/u.test(name)) ??
    names[0] ??
    (typeof given === 'string' ? oneLine(given) : '');
  const needsInput: NeededInput[] = [];
  if (sum?.amount === undefined) {
    const said = sums.map((each) => `“${each.text}”`).join(', ');
    needsInput.push({
      path: 'params.amount',
      message: said ? `Which amount is it? The directive says ${said}.` : 'Which amount is it?',
    });
  }
  if (sum?.currency === undefined)
    needsInput.push({ path: 'params.currency', message: 'In which currency? Such as EUR.' });
  if (source === '') needsInput.push({ path: 'params.source', message: 'From whom did the money come?' });
  draft.add({
    title: sum?.amount === undefined ? 'Record revenue' : `Record ${moneyText(sum.amount)} ${sum.currency}`,
    type: 'revenue.record',
    target: source,
    params: {
      ...(sum?.amount !== undefined && { amount: sum.amount }),
      ...(sum?.currency !== undefined && { currency: sum.currency }),
      ...(source !== '' && { source: cutText(source, LIMITS.source) }),
      description: cutText(text, LIMITS.description),
    },
    needsInput: needsInput.map((each) => ({ ...each, message: cutText(each.message, 500) })),
    ask,
  });
  const dated = draft.dateIn(sums.reduce((rest, each) => rest.replace(each.text, ' '), text));
  if (dated)
    draft.remarks.push(`Revenue is recorded with the time at which it is approved, not with “${dated}”.`);
}

export function refuseNegative(draft: DraftBuilder, ask: Ask): void {
  draft.unable('record a negative amount: revenue takes positive amounts only', ask);
}

/** "249.90", "1200" */
const moneyText = (amount: number) => (Number.isInteger(amount) ? String(amount) : amount.toFixed(2));

export function prepareSignal(draft: DraftBuilder, ask: Ask): void {
  const text = draft.words(ask);
  const head = draft.whole.masked.slice(ask.start, ask.headEnd);
  // "Warning, not critical"
  const said = cutText(head, 200, '')
    .replaceAll(/(?<!\p{L})d['’]/giu, ' ')
    .replace(/(?<!\p{L})(?:not|no|nicht|kein\p{L}*|pas|non)\s+(?:(?:a|an|un|une)\s+)?\p{L}+/giu, '');
  // "..., critical!" at the end of a text behind "Signal:"
  const last = SIGNAL_LABEL.test(head) ? (/[,;–-]\s*[\p{L}\s]{1,30}[.!]*$/u.exec(text)?.[0] ?? '') : '';
  const severity =
    SEVERITIES.find(([word]) => at(last, word) >= 0)?.[1] ??
    SEVERITIES.find(([word]) => at(said, word) >= 0)?.[1] ??
    'info';
  const type =
    SIGNAL_TYPES.find((each) => new RegExp(String.raw`\b${each} (?:signal|alert)`, 'i').test(head)) ??
    'report';
  const { body } = messageOf(draft, ask);
  const title = oneLine(firstWords(body)) || oneLine(text);
  draft.add({
    title: `Signal: ${title}`,
    type: 'signal.raise',
    target: type,
    params: { type, severity, title: cutText(title, LIMITS.title), body: cutText(body, LIMITS.signal) },
    ask,
  });
}
