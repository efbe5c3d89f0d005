import { CAPOS, capoCalled } from '../capo.js';
import { CAPO_ROLES, type CapoRole } from '../../terms/terms.js';
import type { Calendar } from './calendar.js';
import { withSpokenDates } from './spoken-dates.js';
import { capitalised, sentence } from './text.js';

/** Work that the instruction wants another capo to do: "have marketing write the announcement". */
export interface Delegation {
  capo: CapoRole;
  /** A directive of its own, dates spelled out: the other capo reads it on another day. */
  task: string;
}

const NAMES = CAPO_ROLES.flatMap((role) => CAPOS[role].aliases)
  .map((alias) => alias.replace(/^the /, ''))
  .toSorted((a, b) => b.length - a.length)
  .join('|');
const CAPO = String.raw`(?:(?:the|our)\s+)?(?<capo>${NAMES})(?:\s+(?:team|capo|department))?`;

const FORMS: readonly RegExp[] = [
  new RegExp(String.raw`^(?:have|let|make)\s+${CAPO}\s+(?:to\s+)?(?<task>(?!know\b)[\s\S]+)$`, 'i'),
  new RegExp(
    String.raw`^(?:(?:i|we)\s+)?(?:get|ask|tell|instruct|direct|brief|want|need|remind)\s+${CAPO}\s+(?:and\s+)?to\s+(?<task>[\s\S]+)$`,
    'i',
  ),
  new RegExp(
    String.raw`^(?:tell|inform|notify|let|update)\s+${CAPO}\s+(?:know\s+)?(?:that|about)\s+(?<news>[\s\S]+)$`,
    'i',
  ),
  new RegExp(
    String.raw`^(?:delegate|hand(?:\s+over)?|assign|give|pass|leave|forward)\s+(?<task>[\s\S]+?)\s+(?:over\s+)?to\s+${CAPO}\s*(?<rest>(?:by|before|until|for|on|with|and)\b[\s\S]*)?$`,
    'i',
  ),
  new RegExp(String.raw`^(?:delegate|hand)\s+to\s+${CAPO}\s*(?::|to\s)\s*(?<task>[\s\S]+)$`, 'i'),
  new RegExp(
    String.raw`^${CAPO}\s+(?:should|must|needs?\s+to|has\s+to|is\s+to|shall|will)\s+(?<task>[\s\S]+)$`,
    'i',
  ),
];

export function readDelegation(step: string, calendar: Calendar): Delegation | undefined {
  const text = step.replace(/[.!\s]+$/, '');
  for (const form of FORMS) {
    const { capo: name = '', task, news, rest = '' } = text.match(form)?.groups ?? {};
    const capo = capoCalled(name);
    if (capo === undefined) continue;
    const words = news === undefined ? asTask(`${task ?? ''} ${rest}`) : `Take into account: ${news}`;
    return { capo, task: sentence(withSpokenDates(capitalised(words.trim()), calendar)) };
  }
  return undefined;
}

/** "the shipment" alone is no instruction; "prepare the shipment" is. */
function asTask(text: string): string {
  return /^(?:the|our|my|a|an|this|that|these|all)\s/i.test(text.trim())
    ? `Take care of ${text.trim()}`
    : text;
}
