import type { Calendar } from './calendar.js';
import type { Point } from './mail-content.js';
import { worded } from './mail-wording.js';
import { addressName, type Person } from './addressee.js';
import { listed } from './text.js';
import { formalised, type Tone } from './tone.js';

/** A finished mail. Nothing in it waits for somebody to fill it in. */
export interface Mail {
  subject: string;
  body: string;
  unclear: string[];
}

export interface MailParts {
  /** Recipients as far as they are known, with or without an address. */
  readers: readonly Person[];
  /** "our customers", "the team": nobody by name, many at once. */
  audience: 'person' | 'group' | 'team';
  points: readonly Point[];
  subject: string | null;
  tone: Tone;
  senderName: string;
  workspaceName: string;
}

export function composeMail(parts: MailParts, calendar: Calendar): Mail {
  const { tone, readers } = parts;
  const names = readers
    .flatMap((reader) => [reader.email, reader.name, addressName(reader)])
    .filter((name) => name !== null);
  const reader = { names, plural: parts.audience !== 'person' || readers.length > 1 };
  const { paragraphs, subject, asks, warm, unclear } = worded(parts.points, reader, calendar);
  const courtesy = tone.length === 'short' || warm ? [] : [courtesyOf(tone, asks)];
  const opening = tone.register === 'friendly' && tone.length !== 'short' ? ['I hope you are well.'] : [];
  const text = [...opening, ...paragraphs, ...courtesy].map((paragraph) =>
    tone.register === 'formal' ? formalised(paragraph) : paragraph,
  );
  return {
    subject: parts.subject ?? (tone.register === 'formal' ? formalised(subject) : subject),
    body: isLetter(parts.points)
      ? [...paragraphs, ...(CLOSED.test(paragraphs.at(-1) ?? '') ? [] : [closing(parts)])].join('\n\n')
      : [salutation(parts), ...text, closing(parts)].join('\n\n'),
    unclear,
  };
}

const GREETED = /^(?:hi|hello|hey|dear|good (?:morning|afternoon|evening|day)|to whom)\b[^\n]{0,60}/i;
const CLOSED =
  /\n[^\n]{0,30}\b(?:regards|sincerely|faithfully|wishes|best|cheers|greetings|thanks)\b[^\n]{0,30}(?:\n[^\n]{0,60}){0,3}$/i;

/** The operator handed in a whole letter: a second salutation on top of theirs would show. */
function isLetter(points: readonly Point[]): boolean {
  const [only, ...others] = points;
  return others.length === 0 && only?.act === 'verbatim' && GREETED.test(only.text.trim());
}

function closing({ tone, senderName, workspaceName }: MailParts): string {
  const lines = [
    `${CLOSINGS[tone.register]},`,
    senderName,
    workspaceName === senderName ? '' : workspaceName,
  ];
  // Two spaces: a line break in Markdown, invisible in plain text.
  return lines.filter((line) => line !== '').join('  \n');
}

const GREETINGS = { neutral: 'Hello', formal: 'Dear', friendly: 'Hi' } as const;
const CLOSINGS = { neutral: 'Kind regards', formal: 'Yours sincerely', friendly: 'Best wishes' } as const;

function salutation({ readers, audience, tone }: MailParts): string {
  const greeting = GREETINGS[tone.register];
  const names = readers.map(addressName);
  const everyone = tone.register === 'formal' ? 'Dear Sir or Madam' : `${greeting} everyone`;
  if (audience === 'team') return `${greeting} team,`;
  if (names.length > 0 && names.length <= 3 && names.every((name) => name !== null))
    return `${greeting} ${listed(names)},`;
  if (audience === 'group' || names.length > 1)
    return `${tone.register === 'formal' ? 'Dear all' : everyone},`;
  return tone.register === 'formal' ? 'Dear Sir or Madam,' : `${greeting},`;
}

function courtesyOf({ register, length }: Tone, asks: boolean): string {
  const reply =
    register === 'formal' ? 'I look forward to your reply.' : 'I look forward to hearing from you.';
  const questions = 'If you have any questions, please let me know.';
  if (length !== 'long') return asks ? reply : questions;
  return asks ? `${questions} ${reply}` : `${questions} I am happy to explain anything in more detail.`;
}
