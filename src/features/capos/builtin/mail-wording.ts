import type { Calendar } from './calendar.js';
import type { Act, Point } from './mail-content.js';
import { NOBODY_ELSE, turnedToReader, type Others, type Reader, type Turned } from './reported-speech.js';
import { withSpokenDates } from './spoken-dates.js';
import { capitalised, clip, sentence, sentencesOf, uncapitalised, withoutStop } from './text.js';

/** The sentences of a mail: each point in the words of the operator, said to the reader. */

export interface Worded {
  /** Statements first, then what the reader is asked: one paragraph each. */
  paragraphs: string[];
  subject: string;
  /** Whether the reader has to do or answer something. */
  asks: boolean;
  /** Thanks and congratulations only: a stock phrase behind them would spoil them. */
  warm: boolean;
  unclear: string[];
}

interface Wording {
  body(text: string, again: boolean): string;
  subject(text: string): string;
  asks?: true;
  /** What to ask when the mail says nothing else: a subject alone is no message. */
  alone?: string;
  /** Kind words that want no answer. */
  warm?: true;
}

/** Verb phrases ("send the file"), clauses and nouns each need their own frame around the operator's words. */
const WORDINGS: Readonly<Record<Act, Wording>> = {
  state: { body: sentence, subject: capitalised },
  verbatim: { body: (text) => text.trim(), subject: (text) => text.replace(GREETING, '') },
  question: {
    body: (text, again) => `Could you ${again ? 'also ' : ''}let me know whether ${question(text)}`,
    subject: (text) => directQuestion(text) ?? 'A question',
    asks: true,
  },
  inquiry: {
    body: (text, again) => `Could you ${again ? 'also ' : ''}tell me ${question(text)}`,
    subject: (text) => `A question: ${text}`,
    asks: true,
  },
  'ask-for': {
    body: (text, again) =>
      MEETING.test(text)
        ? `Would you ${again ? 'also ' : ''}be available for ${question(text)}`
        : `May I ${again ? 'also ' : ''}ask you for ${question(text)}`,
    subject: (text) => `Request: ${text}`,
    asks: true,
  },
  'ask-about': {
    body: (text) => `I have a question about ${withoutStop(text)}: could you let me know where things stand?`,
    subject: (text) => `A question about ${text}`,
    asks: true,
  },
  request: {
    body: (text, again) => `Could you ${again ? 'also ' : ''}please ${question(text)}`,
    subject: (text) => `Request: ${text}`,
    asks: true,
  },
  'remind-of': {
    body: (text) => sentence(`This is a friendly reminder about ${text}`),
    subject: (text) => `Reminder: ${text}`,
  },
  'remind-to': {
    body: (text) => sentence(`This is a friendly reminder to ${text}`),
    subject: (text) => `Reminder: ${text}`,
  },
  'remind-that': {
    body: (text) => sentence(`This is a friendly reminder that ${text}`),
    subject: (text) => `Reminder: ${text}`,
  },
  'inform-of': {
    body: (text) =>
      sentence(
        `I would like to let you know ${/^(?:when|what|which|how|why|where|who)\b/i.test(text) ? '' : 'about '}${text}`,
      ),
    subject: capitalised,
  },
  topic: {
    body: (text) => sentence(`I am writing about ${text}`),
    subject: capitalised,
    alone: 'Please let me know when it would suit you to talk about it.',
  },
  'follow-up': {
    body: (text) => (text === '' ? 'I wanted to follow up.' : sentence(`I wanted to follow up on ${text}`)),
    subject: (text) => (text === '' ? 'Following up' : `Following up on ${text}`),
    alone: 'Could you let me know where things stand on your side?',
  },
  thank: {
    body: (text) => (text === '' ? 'Thank you very much.' : sentence(`Thank you very much for ${text}`)),
    subject: (text) => (text === '' ? 'Thank you' : `Thank you for ${text}`),
    warm: true,
  },
  apologise: {
    body: (text) => (text === '' ? 'Please accept my apologies.' : sentence(`I apologise for ${text}`)),
    subject: (text) => (text === '' ? 'My apologies' : `Apologies for ${text}`),
    warm: true,
  },
  congratulate: {
    body: (text) => (text === '' ? 'Congratulations!' : `Congratulations on ${withoutStop(text)}!`),
    subject: (text) => (text === '' ? 'Congratulations' : `Congratulations on ${text}`),
    warm: true,
  },
  invite: {
    body: (text) => sentence(`I would like to invite you to ${text}`),
    subject: (text) => `Invitation: ${text}`,
    asks: true,
  },
  announce: { body: (text) => sentence(`We are pleased to announce ${text}`), subject: capitalised },
  'announce-that': {
    body: (text) => sentence(`We are pleased to announce that ${text}`),
    subject: capitalised,
  },
  offer: {
    body: (text) => sentence(`I would like to offer ${/^you\b/i.test(text) ? '' : 'you '}${text}`),
    subject: (text) => `Our offer: ${text.replace(/^you\s+/i, '')}`,
  },
  propose: {
    body: (text) =>
      sentence(
        `I would like to propose ${/^(?:we|you|our|the \p{L}+ (?:is|be))\b/iu.test(text) ? 'that ' : ''}${text}`,
      ),
    subject: (text) => `A proposal: ${text.replace(/^to\s+/i, '')}`,
  },
  confirm: {
    body: (text) => sentence(`I would like to confirm ${CLAUSE.test(text) ? 'that ' : ''}${text}`),
    subject: (text) => `Confirmation: ${text}`,
  },
  welcome: {
    body: (text) => (text === '' ? 'A warm welcome!' : `Welcome to ${withoutStop(text)}!`),
    subject: (text) => (text === '' ? 'Welcome' : `Welcome to ${text}`),
  },
  share: {
    body: (text) => sentence(`I would like to share ${text} with you`),
    subject: (text) => capitalised(text.replace(/^(?:an?|the)\s+/i, '')),
  },
  enclose: {
    body: (text) => `Here is ${withoutStop(text)}:`,
    subject: (text) => capitalised(text.replace(/^(?:an?|the)\s+/i, '')),
  },
  intend: { body: (text) => sentence(`I would like to ${text}`), subject: capitalised },
  arrange: {
    body: (text) =>
      `${sentence(`I would like to arrange ${text}`)} Does that suit you, or would another time be better?`,
    subject: (text) => capitalised(text.replace(/^an?\s+/i, '')),
    asks: true,
  },
};

/** "Dear Ada," opens a letter and says nothing about it. */
const GREETING = /^\s*(?:hi|hello|hey|dear|good (?:morning|afternoon|evening|day))\b[^,!\n]{0,60}[,!\n]\s*/i;
const MEETING =
  /^(?:an?|another) (?:[\p{L}\d-]+ ){0,3}(?:call|meeting|demo|appointment|chat|visit|interview|session)\b/iu;
const CLAUSE =
  /^(?:we|I|you|it|there|(?:the|our|your) (?:\p{L}+ ){1,3}(?:is|are|was|were|has|have|will|can))\b/iu;
const AUXILIARY =
  /^(you|we|I|it|they|there|(?:the|our|your|my) (?:(?!that |which |who )[\p{L}\p{N}-]+ ){0,5}?[\p{L}\p{N}-]+) (can|could|will|would|is|are|was|were|has|have|had|should|may|do|did)\b\s*/iu;

export function worded(points: readonly Point[], reader: Reader, calendar: Calendar): Worded {
  const statements: string[] = [];
  const requests: string[] = [];
  const unclear: string[] = [];
  let subject: string | undefined;
  /** Text handed in stands in a paragraph of its own. */
  let open: 'shared' | 'own' = 'shared';
  let others: Others = NOBODY_ELSE;
  for (const { act, text } of points) {
    const turned =
      act === 'verbatim' ? { text, unclear: [], others } : toReader(text, reader, others, calendar);
    unclear.push(...turned.unclear);
    others = turned.others;
    const wording = WORDINGS[act];
    const said = wording.body(turned.text, requests.length > 0);
    if (wording.asks === true) requests.push(said);
    else if (wording.alone !== undefined && points.length === 1) requests.push(`${said} ${wording.alone}`);
    else if (act === 'verbatim' || open === 'own' || statements.length === 0) statements.push(said);
    else statements.push(`${statements.pop()} ${said}`);
    open = act === 'verbatim' || act === 'enclose' ? 'own' : 'shared';
    subject ??= wording.subject(turned.text);
  }
  return {
    paragraphs: [...statements, requests.join(' ')].filter((paragraph) => paragraph !== ''),
    subject: subjectLine(subject ?? ''),
    asks: requests.length > 0,
    warm: points.length > 0 && points.every(({ act }) => WORDINGS[act].warm === true),
    unclear: [...new Set(unclear)],
  };
}

function toReader(text: string, reader: Reader, others: Others, calendar: Calendar): Turned {
  const turned = turnedToReader(withoutSelf(text.trim(), reader), reader, others);
  return { ...turned, text: withSpokenDates(uncapitalised(turned.text), calendar) };
}

/** Globex needn't be told that its payment is "from Globex", nor that a quote was sent "to Globex". */
function withoutSelf(text: string, { names }: Reader): string {
  return names.reduce(
    (rest, name) => rest.replace(` from ${name}`, '').replace(` to ${name}`, ' to you'),
    text,
  );
}

/** A heading, not a paragraph: up to the first stop, at most 90 characters. */
function subjectLine(text: string): string {
  let first = sentencesOf(text.replace(/\s+/g, ' '))[0] ?? '';
  // The explanation of a date can be read in the mail itself.
  if (first.length > 70) first = first.replace(/ \([^()]{1,40}\)/g, '');
  if (first.length > 70) first = first.split(/,? (?:because|so that|as soon as|in order to) /)[0] ?? '';
  return capitalised(clip(first.replace(/[\s.,;:!]+$/, ''), 90));
}

function question(text: string): string {
  return `${withoutStop(text)}?`;
}

/** "you can join the call" as "Can you join the call?", "the heating can be fixed" as "Can the heating be fixed?" */
function directQuestion(text: string): string | undefined {
  const match = text.match(AUXILIARY);
  if (match === null) return undefined;
  const [lead, pronoun = '', auxiliary = ''] = match;
  return `${capitalised(auxiliary.toLowerCase())} ${pronoun} ${withoutStop(text.slice(lead.length))}?`;
}
