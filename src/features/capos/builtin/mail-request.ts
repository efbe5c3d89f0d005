import type { Tone } from './edits.js';
import { findDates, type Calendar } from './calendar.js';
import { leadingManner, pointsOf, type Manner, type Point } from './mail-content.js';
import { addresseesOf, findAddresses, type Addressee } from './people.js';
import { oneLine } from './text.js';

/** A mail as the instruction asks for it, before anybody knows whether there is an address. */
export interface MailRequest {
  to: Addressee[];
  cc: Addressee[];
  subject: string | null;
  points: Point[];
  tone: Tone | null;
  short: boolean;
  /** A day on which it should leave, in the operator's words; the service sends on approval. */
  when: string | null;
}

const QUOTE = String.raw`["“](?<quote>[^"“”]{1,5000})["”]`;
const VERBATIM = new RegExp(
  String.raw`(?:\b(?:that says|saying|with (?:the |this )?(?:text|message|words|body))\s*:?|:|^(?:send|e-?mail|mail|write|text))\s*${QUOTE}`,
  'iu',
);
const SUBJECT = new RegExp(
  String.raw`,?\s*(?:\b(?:and|with|use|using)\s+)?(?:the\s+)?\bsubject(?:\s+line)?\s*(?:is|to|should be|of)?\s*:?\s*(?:${QUOTE}|(?<=:\s*)(?<bare>[^.;\n"“”]{1,200}))`,
  'iu',
);
const COPY = /[,;]?\s*(?:\band\s+)?\b(?:cc|copying|copy in|with (?:a )?copy to)\b:?\s+(?<who>[^;:!?\n]{1,300}?)(?=\s*(?:[;!?\n]|[.](?:\s|$)|$|,?\s+(?:that|about|to tell|and (?:tell|ask|let|remind))\b))/iu;

const MAIL_NOUN =
  '(?<noun>e-?mail|mail|message|note|letter|reply|response|reminder|follow-?up|thank[- ]you(?: (?:note|mail|e-?mail))?|invitation|invite|announcement|apology|confirmation|update|line|word)';
const NOUN_LED = new RegExp(
  String.raw`^(?:send|write|draft|prepare|compose|shoot|drop)(?:\s+out)?\s+(?<early>(?:(?!(?:an?|the|another|our|my|that|about|to|out)\s)\S{1,80}\s+){0,5}?)(?:(?:an?|the|another|one|our|my)\s+)?(?<modifiers>(?:[\p{L}-]{1,30}\s+){0,3}?)${MAIL_NOUN}\b(?!['’])\s*(?<rest>[\s\S]*)$`,
  'iu',
);
const DIRECT =
  /^(?:e-?mail|mail|message|text|write(?:\s+back)?\s+to|write(?=\s+(?:\p{Lu}|\S+@))|reply to|respond to|answer|contact|reach out to|get in touch with|get back to|ping)\s+(?<rest>[\s\S]*)$/iu;
const LET_KNOW = /^let\s+(?<who>[^.;:]{1,120}?)\s+know\b\s*(?<rest>[\s\S]*)$/iu;
const UPDATE = /^update\s+(?<rest>[\s\S]*)$/iu;
const SEND = /^(?:send|share|forward|hand)(?:\s+(?:out|over))?\s+(?<rest>[\s\S]*)$/iu;
const ARRANGE =
  /^(?:schedule|arrange|set up|book|organi[sz]e|plan)\s+(?<what>(?:an?|the|another)\s+(?:[\p{L}\d-]{1,30}\s+){0,4}?(?:call|meeting|demo|appointment|chat|visit|interview|lunch|coffee|session|kick-?off))\s+with\s+(?<rest>[\s\S]*)$/iu;

const MANNER_OF_NOUN: Readonly<Record<string, Manner>> = {
  reminder: 'remind', followup: 'follow up', thankyou: 'thank', invitation: 'invite', invite: 'invite',
  announcement: 'announce', apology: 'apologise', confirmation: 'confirm', update: 'share',
}; // prettier-ignore
/** Without a person these are documents: "draft an announcement", "write a note". */
const NEEDS_PERSON = /^(?:note|letter|announcement|update|line|word|message|invitation|invite|confirmation|response)$/i;
/** Verbs that address somebody even when the object is no known kind of person: "remind the landlord". */
const ADDRESSING: ReadonlySet<Manner> = new Set(['ask', 'tell', 'remind', 'thank', 'invite', 'congratulate', 'apologise']);
const LINKING = /^(?:with|to|at|from)\s+/iu;

/** The mail that this step of an instruction asks for; undefined when it asks for something else. */
export function readMail(step: string, calendar: Calendar): MailRequest | undefined {
  const { text, subject, cc, verbatim } = withoutParts(step);
  const read = opened(text, calendar);
  if (read === undefined) return undefined;
  const { points, when } = contentOf(read.content, read.manner, calendar);
  if (verbatim !== null) points.push({ act: 'verbatim', text: verbatim });
  const manners = toneOf(`${read.modifiers} ${text}`);
  return { to: read.to, cc, subject, points, when, ...manners };
}

/** Subject, copies and quoted text are taken out first: they may stand anywhere. */
function withoutParts(step: string) {
  const subjectMatch = step.match(SUBJECT);
  const subject = subjectMatch?.groups?.quote ?? subjectMatch?.groups?.bare ?? null;
  let text = subjectMatch ? step.replace(subjectMatch[0], ' ') : step;
  const quoted = text.match(VERBATIM);
  const verbatim = quoted?.groups?.quote ?? null;
  if (quoted !== null) text = text.replace(quoted[0], /^(?:send|e-?mail|mail|write|text)/i.test(quoted[0]) ? 'email' : ' ');
  const copy = text.match(COPY);
  const cc = copy === null ? [] : addresseesOf(copy.groups?.who ?? '');
  if (copy !== null) text = text.replace(copy[0], ' ');
  return { text: text.trim(), subject: subject && oneLine(subject, 180), cc, verbatim };
}

interface Opened {
  manner: Manner;
  to: Addressee[];
  content: string;
  modifiers: string;
}

function opened(text: string, calendar: Calendar): Opened | undefined {
  const known = text.match(LET_KNOW)?.groups;
  if (known) return { manner: 'tell', to: addresseesOf(known.who ?? ''), content: known.rest ?? '', modifiers: '' };

  const arranged = text.match(ARRANGE)?.groups;
  if (arranged) {
    const { to, content } = headOf(arranged.rest ?? '', calendar);
    return { manner: 'arrange', to, content: `${arranged.what} ${content}`, modifiers: '' };
  }
  const led = text.match(NOUN_LED)?.groups;
  if (led) return nounLed(led, calendar);

  const updated = text.match(UPDATE)?.groups;
  if (updated) {
    const { to, content } = headOf(updated.rest ?? '', calendar);
    if (!to.some(isPersonal)) return undefined;
    const subject = content.match(/^(?:on|about|regarding)\s+([\s\S]*)$/i)?.[1];
    return { manner: subject === undefined ? 'tell' : 'share', to, content: subject ? `an update on ${subject}` : content, modifiers: '' };
  }
  const direct = text.match(DIRECT)?.groups;
  if (direct) return addressed('write', direct.rest ?? '', calendar);

  const sent = text.match(SEND)?.groups;
  if (sent) return sending(sent.rest ?? '', calendar);

  const manner = leadingManner(text);
  if (manner === undefined || /^(?:to|and|then)\b/i.test(text)) return undefined;
  const read = addressed(manner.manner, manner.rest.replace(LINKING, ''), calendar);
  const personal = ADDRESSING.has(manner.manner) ? read.to.length > 0 : read.to.some(isPersonal);
  // "Follow up on the proposal" needs nobody by name; "propose a plan" without a person is a document.
  return personal || manner.manner === 'follow up' ? read : undefined;
}

function nounLed(led: Record<string, string | undefined>, calendar: Calendar): Opened | undefined {
  const noun = (led.noun ?? '').toLowerCase().replace(/[- ]|(?<=thank.you) .*$/g, '').replace(/^thankyou.*/, 'thankyou');
  const rest = (led.rest ?? '').replace(/^(?:to|for)\s+(?=\S)/i, '\u0000');
  const named = rest.startsWith('\u0000') ? headOf(rest.slice(1), calendar) : { to: [], content: led.rest ?? '' };
  const early = (led.early ?? '').trim() === '' ? [] : addresseesOf(led.early ?? '');
  const to = early.length > 0 ? early : named.to;
  const trailing = to.length > 0 ? null : trailingRecipients(named.content);
  if (to.length === 0 && trailing === null && NEEDS_PERSON.test(led.noun ?? '')) return undefined;
  const topics = (led.modifiers ?? '').trim().split(/\s+/).filter((word) => word !== '' && !ADJECTIVE.test(word));
  let content = (trailing?.content ?? named.content).trim();
  if (topics.length > 0 && !/^(?:about|that|on|regarding)\b/i.test(content)) content = `about the ${topics.join(' ')} ${content}`;
  const manner = MANNER_OF_NOUN[noun] ?? 'write';
  if (manner === 'share') content = `an update ${content}`;
  return { manner, to: trailing?.to ?? to, content, modifiers: led.modifiers ?? '' };
}

function addressed(manner: Manner, rest: string, calendar: Calendar): Opened {
  const { to, content } = headOf(rest, calendar);
  const trailing = to.length > 0 ? null : trailingRecipients(content);
  return { manner, to: trailing?.to ?? to, content: trailing?.content ?? content, modifiers: '' };
}

/** "send Ada the proposal" and "send the proposal to Ada" */
function sending(rest: string, calendar: Calendar): Opened | undefined {
  const first = headOf(rest, calendar);
  if (first.to.some(isPersonal) && /^(?:an?|the|our|my|your|his|her|their|some|all|this|that|these|those|\d)\b/i.test(first.content)) {
    return { manner: 'share', to: first.to, content: first.content, modifiers: '' };
  }
  for (const link of rest.matchAll(/\s+(?:to|with)\s+/gi)) {
    const { to, content } = headOf(rest.slice(link.index + link[0].length), calendar);
    if (to.length > 0 && to.every(isPersonal)) {
      return { manner: 'share', to, content: `${rest.slice(0, link.index)} ${content}`, modifiers: '' };
    }
  }
  return first.to.some(isPersonal) ? { manner: 'write', ...first, modifiers: '' } : undefined;
}

/** Somebody one writes to, rather than a thing that a verb handles. */
export function isPersonal(addressee: Addressee): boolean {
  if (addressee.email !== null || addressee.name !== null) return addressee.name !== '';
  return addressee.generic && PERSON.test(addressee.text);
}

const PERSON =
  /\b(?:him|her|them|every(?:one|body)|all|customers?|clients?|buyers?|leads?|prospects?|contacts?|subscribers?|users?|members?|suppliers?|vendors?|partners?|team|list|audience|people|attendees|participants|recipients?|investors?|board|staff|colleagues?|candidates?|applicants?|courier|landlord|accountant|lawyer)\b/i;

/** "announce the launch to list@example.com": only where nothing else names a recipient. */
function trailingRecipients(content: string): { to: Addressee[]; content: string } | null {
  const clause = /^\s*(?:that|whether|if)\b/i.test(content);
  for (const link of content.matchAll(/\s+to\s+(?=[^\n]{1,300}$)/gi)) {
    const phrase = content.slice(link.index + link[0].length).replace(/[.!?\s]+$/, '');
    const to = addresseesOf(phrase);
    const whole = clause ? to.every((one) => one.email !== null) : to.every(isPersonal) && !/\p{Ll}{3,} \p{Ll}{3,} \p{Ll}{3,}/u.test(phrase);
    if (to.length > 0 && whole) return { to, content: content.slice(0, link.index) };
  }
  return null;
}
