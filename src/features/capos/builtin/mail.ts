import type { Calendar } from './calendar.js';
import type { Point } from './mail-content.js';
import { worded } from './mail-wording.js';
import { addressName, type Person } from './people.js';
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
  const names = readers.flatMap((reader) => [addressName(reader), reader.name]).filter((name) => name !== null);
  const reader = { names, plural: parts.audience !== 'person' || readers.length > 1 };
  const { paragraphs, subject, asks, unclear } = worded(parts.points, reader, calendar);
  const courtesy = tone.length === 'short' ? [] : [courtesyOf(tone, asks)];
  const opening = tone.register === 'friendly' && tone.length !== 'short' ? ['I hope you are well.'] : [];
  const text = [...opening, ...paragraphs, ...courtesy].map((paragraph) =>
    tone.register === 'formal' ? formalised(paragraph) : paragraph,
  );
  const signature = [parts.senderName, parts.workspaceName === parts.senderName ? '' : parts.workspaceName];
  return {
    subject: parts.subject ?? (tone.register === 'formal' ? formalised(subject) : subject),
    body: [
      salutation(parts),
      ...text,
      [`${CLOSINGS[tone.register]},`, ...signature.filter((line) => line !== '')].join('  \n'),
    ].join('\n\n'),
    unclear,
  };
}

const GREETINGS = { neutral: 'Hello', formal: 'Dear', friendly: 'Hi' } as const;
const CLOSINGS = { neutral: 'Kind regards', formal: 'Yours sincerely', friendly: 'Best wishes' } as const;

function salutation({ readers, audience, tone }: MailParts): string {
  const greeting = GREETINGS[tone.register];
  const names = readers.map(addressName);
  const everyone = tone.register === 'formal' ? 'Dear Sir or Madam' : `${greeting} everyone`;
  if (audience === 'team') return `${greeting} team,`;
  if (names.length > 0 && names.length <= 3 && names.every((name) => name !== null)) return `${greeting} ${listed(names)},`;
  if (audience === 'group' || names.length > 1) return `${tone.register === 'formal' ? 'Dear all' : everyone},`;
  return tone.register === 'formal' ? 'Dear Sir or Madam,' : `${greeting},`;
}

function courtesyOf({ register, length }: Tone, asks: boolean): string {
  const thanks = register === 'formal' ? 'Thank you in advance for your reply.' : 'Thank you in advance.';
  const questions = 'If you have any questions, please let me know.';
  if (length === 'long') return asks ? `${thanks} ${questions}` : `${questions} I am happy to explain anything in more detail.`;
  return asks ? thanks : questions;
}
