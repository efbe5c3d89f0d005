import { addressedIn, isPersonal, trailingAddressed, type Addressed } from './addressing.js';
import { findDates, type Calendar } from './calendar.js';
import { leadingManner, pointsOf, type Manner, type Point } from './mail-content.js';
import { addresseesOf, findAddresses, type Addressee } from './addressee.js';
import { oneLine } from './text.js';
import { toneIn, type Tone } from './tone.js';

/** A mail as the instruction asks for it, before anybody knows whether there is an address. */
export interface MailRequest {
  to: Addressee[];
  cc: Addressee[];
  subject: string | null;
  points: Point[];
  tone: Tone;
  /** The day on which it should leave, in the operator's words; the service sends on approval. */
  when: string | null;
}

interface Opening extends Addressed {
  manner: Manner;
}

/** Reads the mail that this step of an instruction asks for; undefined when it asks for something else. */
export function readMail(step: string, calendar: Calendar): MailRequest | undefined {
  const { text, subject, cc, verbatim } = withoutParts(step);
  const opening = OPENERS.map((open) => open(text)).find((read) => read !== undefined);
  if (opening === undefined) return undefined;
  const { when, content } = withoutDay(opening.content, calendar);
  const points = pointsOf(content, opening.manner);
  if (verbatim !== null) points.push({ act: 'verbatim', text: verbatim });
  return { to: opening.to, cc, subject, points, tone: toneIn(step), when };
}

const QUOTE = String.raw`["“](?<quote>[^"“”]{1,5000})["”]`;
const VERBATIM = new RegExp(
  String.raw`(?:\b(?:that says|saying|with (?:the |this )?(?:text|message|words|body))\s*:?|:|^(?<verb>send|e-?mail|mail|write|text))\s*${QUOTE}`,
  'iu',
);
const SUBJECT = new RegExp(
  String.raw`,?\s*(?:\b(?:and|with|use|using)\s+)?(?:(?:the|a)\s+)?\bsubject(?:\s+line)?\s*(?:is|to|should be|of)?\s*(?:${QUOTE}|:\s*${QUOTE.replace('quote', 'late')}|:\s*(?<bare>[^.;\n"“”]{1,200}))`,
  'iu',
);
const MANNERS =
  /[,;]?\s*\b(?:in an? (?:very )?\p{L}+ (?:tone|way|manner|style)|(?:and )?keep(?:ing)? it (?:very )?\p{L}+)\b/iu;
const COPY =
  /[,;]?\s*(?:\band\s+)?\b(?:cc|copying|copy in|with (?:a )?copy to)\b:?\s+(?<who>[^;:!?\n]{1,300}?)(?=\s*(?:[;!?\n]|[.](?:\s|$)|$|,?\s+(?:that|about|to tell|and (?:tell|ask|let|remind))\b))/iu;

/** Subject, copies and quoted text go first: they may stand anywhere in the step. */
function withoutParts(step: string) {
  let text = step;
  const take = (pattern: RegExp, instead = ' ') => {
    const match = text.match(pattern);
    if (match !== null) text = text.replace(match[0], () => (match.groups?.verb ? 'email ' : instead));
    return match?.groups ?? {};
  };
  const { quote, late, bare } = take(SUBJECT);
  const verbatim = take(VERBATIM).quote ?? null;
  const who = take(COPY).who;
  take(MANNERS, '');
  const subject = quote ?? late ?? bare ?? null;
  return {
    text: text.trim(),
    subject: subject === null ? null : oneLine(subject, 180),
    cc: who === undefined ? [] : addresseesOf(who),
    verbatim,
  };
}

/** "remind Bob on Friday to pay": the day in front of the message is when to write, not what to say. */
function withoutDay(content: string, calendar: Calendar): { when: string | null; content: string } {
  const first = findDates(content, calendar)[0];
  if (first === undefined || !/^(?:on |by )?$/i.test(content.slice(0, first.index)))
    return { when: null, content };
  const rest = content.slice(first.index + first.text.length).replace(/^[\s,]+/, '');
  const opensMessage = /^(?:that|whether|if|about|to|for|regarding|and)\b|^:/i.test(rest);
  return opensMessage ? { when: first.text, content: rest } : { when: null, content };
}

const MAIL_NOUN =
  'e-?mail|mail|message|note|letter|reply|response|reminder|follow-?up|thank[- ]you(?: (?:note|mail|e-?mail|message))?|' +
  'invitation|invite|announcement|apology|confirmation|update|line|word';
const NOUN_LED = new RegExp(
  String.raw`^(?:send|write|draft|prepare|compose|shoot|drop)(?:\s+out)?\s+` +
    // "send Ada a reminder": whoever stands before the article is addressed.
    String.raw`(?<early>(?:(?:the|our|my|all)\s+)?(?:(?!(?:an?|that|about|to|out)\s)\S{1,80}\s+){1,6}?(?=(?:an?|another|one)\s))??` +
    String.raw`(?:(?:an?|the|another|one|our|my)\s+)?(?<modifiers>(?:(?!an?\s)[\p{L}-]{1,30},?\s+){0,4}?)` +
    String.raw`(?<noun>${MAIL_NOUN})\b(?!['’])\s*(?<rest>[\s\S]*)$`,
  'iu',
);
const MANNER_OF_NOUN: readonly (readonly [noun: RegExp, manner: Manner])[] = [
  [/^reminder/i, 'remind'],
  [/^follow/i, 'follow up'],
  [/^thank/i, 'thank'],
  [/^invit/i, 'invite'],
  [/^announcement/i, 'announce'],
  [/^apology/i, 'apologise'],
  [/^confirmation/i, 'confirm'],
  [/^update/i, 'share'],
];
/** Without a person these are documents: "draft an announcement", "write a note". */
const NEEDS_PERSON =
  /^(?:note|letter|announcement|update|line|word|message|invit\w+|confirmation|response)$/i;
const ADJECTIVE =
  /^(?:quick|short|brief|polite|friendly|formal|warm|kind|gentle|nice|personal|final|new|first|second|last|official|little|small|follow-up|concise|casual|cheerful|heartfelt|sincere|written)$/i;
/** Verbs that address somebody even where the object is no known kind of person: "remind the plumber to ...". */
const ADDRESSING = /^(?:ask|tell|remind|thank|invite|inform|notify|congratulate|apologi[sz]e|welcome)\b/i;
/** What tells "ask the plumber whether ..." from "tell the story of our founder". */
const CLAUSE = /^(?:that|whether|if|to|about|for|on|regarding|when|what|which|how|why|where|who)\b/i;

const LET_KNOW = /^let\s+(?<who>(?:[^.;:]|\.(?=\S)){1,120}?)\s+know\b\s*(?<rest>[\s\S]*)$/iu;
const ARRANGE =
  /^(?:schedule|arrange|set up|book|organi[sz]e|plan)\s+(?<what>(?:an?|the|another)\s+(?:[\p{L}\d-]{1,30}\s+){0,4}?(?:call|meeting|demo|appointment|chat|visit|interview|lunch|coffee|session|kick-?off)\b[^.;:\n]{0,80}?)\s+with\s+(?<rest>[\s\S]*)$/iu;
const UPDATE = /^update\s+(?<rest>[\s\S]*)$/iu;
const WRITE =
  /^(?:e-?mail|mail|message|text|write(?:\s+back)?\s+to|reply to|respond to|answer|contact|reach out to|get in touch with|get back to|ping)\s+(?<rest>[\s\S]*)$/iu;
/** "write Ada about ...": the clause behind shows that Ada is a person and not a title. */
const WRITE_PERSON =
  /^[Ww]rite\s+(?=\S+@|\p{Lu}[^.]{0,80}?\s(?:about|that|to|and|whether|if|asking)\s)(?<rest>[\s\S]*)$/u;
const SEND = /^(?:send|share|forward|hand)(?:\s+(?:out|over))?\s+(?<rest>[\s\S]*)$/iu;

/** The ways in which people ask for a mail; the first that fits reads the step. */
const OPENERS: readonly ((text: string) => Opening | undefined)[] = [
  function letKnow(text) {
    const { who, rest = '' } = text.match(LET_KNOW)?.groups ?? {};
    return who === undefined ? undefined : { manner: 'tell', to: addresseesOf(who), content: rest };
  },
  function arrange(text) {
    const { what, rest = '' } = text.match(ARRANGE)?.groups ?? {};
    if (what === undefined) return undefined;
    const { to, content } = addressedIn(rest);
    return { manner: 'arrange', to, content: `${what} ${content}` };
  },
  nounLed,
  function update(text) {
    const { rest } = text.match(UPDATE)?.groups ?? {};
    if (rest === undefined) return undefined;
    const { to, content } = addressedIn(rest);
    if (!to.some(isPersonal)) return undefined;
    return /^(?:on|about|regarding)\s/i.test(content)
      ? { manner: 'share', to, content: `an update ${content}` }
      : { manner: 'tell', to, content };
  },
  function write(text) {
    const { rest } = (text.match(WRITE) ?? text.match(WRITE_PERSON))?.groups ?? {};
    if (rest === undefined) return undefined;
    const thing = rest.match(/^(?:it|them|this|that|these|those)(?=\s+to\s)/i)?.[0];
    if (thing !== undefined) return send(`send ${rest}`);
    const read = addressedSomewhere(rest);
    // "email the release notes to Ada" names a thing first.
    const sent = read.to.length > 0 && !read.to.some(isPersonal) ? send(`send ${rest}`) : undefined;
    return sent ?? { manner: 'write', ...read };
  },
  send,
  function verb(text) {
    const led = leadingManner(text);
    if (led === undefined || /^(?:to|and|then)\b/i.test(text)) return undefined;
    const { manner, rest } = led;
    const link = manner === 'confirm' ? 'with' : 'to';
    const read = addressedSomewhere(rest.replace(/^(?:with|to|from)\s+/i, ''), link);
    if (read.to.some(isPersonal)) return { manner, ...read };
    const addresses =
      ADDRESSING.test(text) && (read.to.some(({ guessed }) => guessed) || CLAUSE.test(read.content));
    if (addresses) return { manner, ...read };
    // "Follow up on the proposal" needs nobody by name; "propose a plan" without a person is a document.
    return manner === 'follow up' ? { manner, to: addressesIn(rest), content: rest } : undefined;
  },
];

/** "follow up on the quote we sent to jo@example.com" */
function addressesIn(text: string): Addressee[] {
  return findAddresses(text).flatMap(({ email }) => addresseesOf(email));
}

/** "send Ada a payment reminder about ...", "draft an email to the supplier asking ..." */
function nounLed(text: string): Opening | undefined {
  const { early = '', modifiers = '', noun, rest = '' } = text.match(NOUN_LED)?.groups ?? {};
  if (noun === undefined) return undefined;
  const linked = /^(?:to|for)\s/i.test(rest) ? addressedIn(rest.replace(/^\S+\s+/, '')) : undefined;
  // "a reminder for invoice 4711" is for nobody.
  const isPerson =
    linked !== undefined && (linked.to.some(isPersonal) || (/^to\s/i.test(rest) && linked.to.length > 0));
  const named = isPerson ? linked : { to: [], content: rest };
  const inFront = early.trim() === '' ? [] : addresseesOf(early);
  const behind = inFront.length + named.to.length > 0 ? null : trailingAddressed(rest);
  const to = inFront.length > 0 ? inFront : (behind?.to ?? named.to);
  if (to.length === 0 && NEEDS_PERSON.test(noun)) return undefined;
  const manner = MANNER_OF_NOUN.find(([pattern]) => pattern.test(noun))?.[1] ?? 'write';
  const message = inFront.length > 0 ? rest : (behind?.content ?? named.content);
  const topic = modifiers.split(/[\s,]+/).filter((word) => word !== '' && !ADJECTIVE.test(word));
  const opensItself = topic.length === 0 || /^(?:about|that|on|regarding|to)\b/i.test(message);
  const content = opensItself ? message : `about the ${topic.join(' ')} ${message}`;
  return { manner, to, content: manner === 'share' ? `an update ${content}` : content };
}

/** "send Ada the proposal", "send the proposal to Ada" */
function send(text: string): Opening | undefined {
  const { rest } = text.match(SEND)?.groups ?? {};
  if (rest === undefined) return undefined;
  const first = addressedIn(rest);
  if (
    first.to.some(isPersonal) &&
    /^(?:an?|the|our|my|his|her|their|some|all|this|that|these|those|\d)/i.test(first.content)
  ) {
    return { manner: 'share', ...first };
  }
  for (const link of rest.matchAll(/\s+(?:to|with)\s+/gi)) {
    const { to, content } = addressedIn(rest.slice(link.index + link[0].length));
    if (to.length > 0 && to.every(isPersonal)) {
      return { manner: 'share', to, content: `${rest.slice(0, link.index)} ${content}`.trim() };
    }
  }
  return first.to.some(isPersonal) ? { manner: 'write', ...first } : undefined;
}

function addressedSomewhere(text: string, link: 'to' | 'with' = 'to'): Addressed {
  const front = addressedIn(text);
  return front.to.some((one) => isPersonal(one) || one.guessed)
    ? front
    : (trailingAddressed(text, link) ?? front);
}
