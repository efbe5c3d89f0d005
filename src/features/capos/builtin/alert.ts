import type { Engine } from '../capo.js';
import type { SEVERITIES, SIGNAL_TYPES } from '../action-params.js';
import type { Calendar } from './calendar.js';
import { withSpokenDates } from './spoken-dates.js';
import { capitalised, clip, oneLine, sentence, withoutStop } from './text.js';

/** Something that people in the workspace are to see: "flag the churn risk at Acme", "remind me to call Bob". */
export interface Alert {
  severity: (typeof SEVERITIES)[number];
  title: string;
  body: string;
  reminder: boolean;
}

const RAISE =
  /^(?:flag|alert|raise|escalate|warn|signal|watch out for|keep an eye on|mark)\b\s*(?:(?:us|me|everyone|the team)\b\s*)?(?:(?:(?:an?|the)\s+)?(?:(?:critical|urgent|new|high)\s+)?(?:signal|alert|flag|warning|alarm)\b)?\s*(?:that|about|of|on|for|when|:)?\s*(?<what>[\s\S]+)$/i;
const REMINDER =
  /^remind\s+(?:me|us)\b\s*(?<when>[^,]{0,60}?)\s*(?:(?:to|that|about|of)\s+(?<what>[\s\S]+))$/i;
const CRITICAL = /\b(?:critical|urgent(?:ly)?|severe|immediately|emergency|outage|breach|at once)\b/i;
const WARNING =
  /\b(?:risk|warn(?:ing)?|problem|issue|delay(?:ed)?|late|overdue|drop(?:ped)?|churn|complain\w*|missing|broken|fail\w*|escalate|unhappy|worr\w+)\b/i;
/** "as critical", "with severity warning": says how loud, not what. */
const LOUDNESS =
  /,?\s*\b(?:as|with|at)\s+(?:an?\s+)?(?:severity\s+)?(?:critical|urgent|warning|info|high|low)(?:\s+(?:severity|priority|signal|issue))?\b/gi;

export function readAlert(step: string, calendar: Calendar): Alert | undefined {
  const reminder = step.match(REMINDER)?.groups;
  const what = reminder?.what ?? step.match(RAISE)?.groups?.what;
  if (what === undefined || !/[\p{L}\p{N}]/u.test(what)) return undefined;
  const when = reminder?.when ?? '';
  const text = oneLine(`${what.replace(LOUDNESS, '')} ${when}`, 4_000);
  if (!/[\p{L}\p{N}]/u.test(text)) return undefined;
  const dated = withSpokenDates(text, calendar);
  const severity = CRITICAL.test(step) ? 'critical' : WARNING.test(step) ? 'warning' : 'info';
  return {
    severity,
    title: clip(
      `${reminder === undefined ? '' : 'Reminder: '}${reminder === undefined ? capitalised(withoutStop(dated).replace(/^(?:the|an?)\s+/i, '')) : withoutStop(dated)}`,
      190,
    ),
    body: sentence(dated),
    reminder: reminder !== undefined,
  };
}

/** The type of a signal follows from who raises it. */
export const SIGNAL_TYPE_OF: Readonly<Record<Engine, (typeof SIGNAL_TYPES)[number]>> = {
  marketing: 'buyer',
  revenue: 'revenue',
  ops: 'agent',
  product: 'agent',
  executive: 'report',
};
