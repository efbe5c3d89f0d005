import { cutText } from '../../../platform/kernel/text.js';
import { CAPO_ROLES, type CapoRole } from '../capo.js';
import { moneyIn } from '../money.js';
import * as words from './words.js';

/** What an ask wants done. */
export type Kind = 'mail' | 'document' | 'delegation' | 'signal' | 'revenue' | 'unable' | 'unclear';

/** How far a sentence is looked into to learn whether it asks for something. */
export const MAX_SENTENCE = 400;

/** As `kindOf`, where the text begins with what it asks. */
export function kindAt(text: string): Kind {
  return /^\p{L}+/u.test(text) && firstOf(text)[1] === 0 ? kindOf(text) : 'unclear';
}

function unableAt(text: string): number {
  for (const { asked } of words.UNABLE) {
    const match = [...cutText(text, MAX_SENTENCE, '').matchAll(asked)][0];
    if (match) return match.index + match[0].length - match.groups!['verb']!.length;
  }
  return -1;
}

/** "Revenue: 120 EUR from Krone" */
export const isRevenueLine = (text: string) => words.REVENUE_LABEL.test(text) && moneyIn(text).length > 0;

function firstOf(text: string): [Kind, number] {
  if (!/\p{L}/u.test(text)) return ['unclear', -1];
  if (isRevenueLine(text)) return ['revenue', 0];
  const recorded = words.at(text, words.RECORD);
  const isMoney = recorded >= 0 && (words.at(text, words.TOPICS.revenue) >= 0 || moneyIn(text).length > 0);
  const found: [Kind, number][] = [
    ['delegation', words.at(text, words.DELEGATES)],
    ['signal', words.at(text, words.SIGNAL)],
    ['revenue', isMoney ? recorded : -1],
    ['unable', unableAt(text)],
    ['mail', words.at(text, words.MAIL)],
    ['document', words.at(text, words.QUESTION)],
    ['document', words.at(text, words.WRITE)],
  ];
  const asked = found.filter(([, position]) => position >= 0).toSorted((a, b) => a[1] - b[1]);
  return asked[0] ?? ['unclear', -1];
}

/** By what it says first; an address makes a mail of whatever is to be written. */
export function kindOf(given: string, isFirst = false): Kind {
  const text = cutText(given, MAX_SENTENCE * 5, '');
  if (isFirst && words.SIGNAL_LABEL.test(text)) return 'signal';
  if (isFirst && words.NOTE_LABEL.test(text)) return 'document';
  if (text.length < 100 && words.PLEASANTRY.test(text)) return 'unclear';
  const [kind] = firstOf(text);
  const hasRecipient = text.includes('\uFDD1');
  if (kind === 'unclear') {
    if (hasRecipient && words.ADDRESSED.test(text)) return 'mail';
    return words.REPORT.test(text) ? 'document' : 'unclear';
  }
  if (
    kind === 'mail' &&
    text.trimEnd().endsWith('?') &&
    !/[:\uFDD0\uFDD3]/.test(text) &&
    !words.REQUEST.test(text)
  )
    return 'document';
  if (kind === 'document' && words.at(text, words.QUESTION) !== 0) {
    const isMail =
      words.WRITES_TO.test(text) || (words.at(text, words.MAIL_NOUN) >= 0 && namesSomebody(text));
    return isMail ? 'mail' : 'document';
  }
  if (kind === 'mail' && !hasRecipient && words.at(text, words.TO_ME) >= 0) return 'document';
  return kind;
}

/** "to Jane", "für Herrn Krause" */
function namesSomebody(text: string): boolean {
  return /(?<!\p{L})(?:to|for|an|für|à|pour|a|para)\s+(?:the |my |our |den |die |la |le )?\p{Lu}/u.test(text);
}

/** Which capo "ask marketing to ..." names. */
export function capoNamed(text: string): { capo: CapoRole; end: number; isSubject: boolean } | undefined {
  const match = words.DELEGATES.exec(text);
  const capo = CAPO_ROLES.find((role) => match?.groups?.[role] ?? match?.groups?.[`own_${role}`]);
  if (!match || !capo) return undefined;
  const end = match.index + match[0].length;
  // "... and ops to order paper"
  const isSubject = match.groups?.[`own_${capo}`] !== undefined && !/^\s+to\s/.test(text.slice(end));
  return { capo, end, isSubject };
}
