/**
 * What a mail is to say, read from an instruction: "tell her that the demo moved and ask whether Friday works" holds
 * two points, a statement and a question. Each point keeps the operator's own words; `mail-wording.ts` turns them
 * into sentences.
 */

export type Act =
  | 'state'
  | 'question'
  | 'inquiry'
  | 'ask-for'
  | 'ask-about'
  | 'request'
  | 'remind-of'
  | 'remind-to'
  | 'remind-that'
  | 'inform-of'
  | 'topic'
  | 'follow-up'
  | 'thank'
  | 'apologise'
  | 'congratulate'
  | 'invite'
  | 'announce'
  | 'announce-that'
  | 'offer'
  | 'propose'
  | 'confirm'
  | 'welcome'
  | 'share'
  | 'enclose'
  | 'intend'
  | 'arrange'
  | 'verbatim';

export interface Point {
  act: Act;
  text: string;
}

export type Manner =
  | 'ask'
  | 'tell'
  | 'remind'
  | 'thank'
  | 'apologise'
  | 'congratulate'
  | 'invite'
  | 'announce'
  | 'follow up'
  | 'offer'
  | 'propose'
  | 'confirm'
  | 'welcome'
  | 'share'
  | 'arrange'
  | 'write';

/** Every spelling of a verb that opens a point, with what it does. */
const VERBS: readonly (readonly [pattern: string, manner: Manner])[] = [
  ['ask(?:ing)?|inquir(?:e|ing)|enquir(?:e|ing)|request(?:ing)?', 'ask'],
  [
    'tell(?:ing)?|inform(?:ing)?|notify(?:ing)?|mention(?:ing)?|say(?:ing)?|explain(?:ing)?|advis(?:e|ing)',
    'tell',
  ],
  [
    'let(?:ting)?(?= (?:[^.;]|[.](?=[^ ])){1,80}? know)|stat(?:e|ing)|add(?:ing)?(?= that)|point(?:ing)? out',
    'tell',
  ],
  ['remind(?:ing)?', 'remind'],
  ['thank(?:ing)?', 'thank'],
  ['apologi[sz](?:e|ing)', 'apologise'],
  ['congratulat(?:e|ing)', 'congratulate'],
  ['invit(?:e|ing)', 'invite'],
  ['announc(?:e|ing)', 'announce'],
  ['follow(?:ing)?[ -]up|chas(?:e|ing)|nudg(?:e|ing)|check(?:ing)? in', 'follow up'],
  ['offer(?:ing)?', 'offer'],
  ['propos(?:e|ing)|suggest(?:ing)?|recommend(?:ing)?', 'propose'],
  ['confirm(?:ing)?', 'confirm'],
  ['welcom(?:e|ing)', 'welcome'],
];

const VERB = VERBS.map(([pattern]) => pattern).join('|');
const PRONOUN = String.raw`(?:her|him|them|everyone|everybody|all of them)`;
const WH = String.raw`(?:when|what|which|how|why|where|who|whose)`;
/** What may follow a verb that opens a further point; anything else belongs to the clause it stands in. */
const OPENS_POINT = String.raw`(?=\s+(?:${PRONOUN}\b|whether\b|if\b|that\b|for\b|${WH}\b|about\b|a\b|an\b|the\b|our\b))`;

const FURTHER_POINT = new RegExp(
  String.raw`(?:\s*[,;]\s*(?:and\s+|but\s+)?|\s+(?:and|but)\s+|\.\s+)(?:then\s+|also\s+|please\s+)*(?=(?:to\s+)?(?:${VERB})\b${OPENS_POINT})`,
  'giu',
);
/** Behind "ask him to review ..." a bare "and confirm the date" is still his to do. */
const FURTHER_AFTER_TASK = new RegExp(
  String.raw`(?:\s*[,;]\s*(?:and\s+|but\s+)?|\s+(?:and|but)\s+)(?:then\s+|also\s+|please\s+)*(?=(?:to\s+)?(?:${VERB})\s+(?:${PRONOUN}\b|whether\b))`,
  'giu',
);
const LEADING_VERB = VERBS.map(([pattern, manner]) => ({
  manner,
  expression: new RegExp(
    String.raw`^(?:(?:and|but|also|then|please|,)\s+)*(?:to\s+)?(?:${pattern})\b\s*`,
    'iu',
  ),
}));
const LEADING_PRONOUN = new RegExp(String.raw`^(?:with\s+|to\s+)?${PRONOUN}\b\s*(?:know\b)?\s*`, 'iu');

/** The manner that a verb at the start of `text` names, and what follows it. */
export function leadingManner(text: string): { manner: Manner; rest: string } | undefined {
  for (const { manner, expression } of LEADING_VERB) {
    const verb = text.match(expression)?.[0];
    if (verb !== undefined) return { manner, rest: text.slice(verb.length) };
  }
  return undefined;
}

/** All points of `content`; the first one in the manner of the verb that governs it. */
export function pointsOf(content: string, manner: Manner): Point[] {
  const points: Point[] = [];
  let governing = manner;
  for (const piece of piecesOf(content)) {
    const led = leadingManner(piece);
    governing = led?.manner ?? governing;
    const clause = governing === 'share' ? piece.match(ANNOUNCED)?.groups?.clause : undefined;
    if (clause !== undefined) {
      points.push(...pointsOf(clause, 'tell'));
      continue;
    }
    const rest = led === undefined ? piece : led.rest.replace(LEADING_PRONOUN, '').replace(/^know\s+/i, '');
    const point = pointOf(governing, rest.replace(/^[\s,:–-]+/, '').trim());
    if (point !== undefined) points.push(point);
  }
  const silent = points.length === 0 ? pointOf(manner, '') : undefined;
  return silent === undefined ? points : [silent];
}

function piecesOf(content: string): string[] {
  const task =
    /^\s*(?:(?:to\s+)?(?:ask|tell|remind|invite)(?:ing)?\s+\S+\s+)?to\s+(?!the\b|a\b|an\b|our\b)\p{Ll}/u.test(
      content,
    );
  return content.split(task ? FURTHER_AFTER_TASK : FURTHER_POINT).filter((piece) => piece.trim() !== '');
}

/** Marker words and what they make of the rest, per manner; the first that fits decides. */
const MARKERS: Readonly<Record<Manner, readonly (readonly [pattern: RegExp, act: Act])[]>> = {
  ask: [
    [/^(?:whether|if)\s+/i, 'question'],
    [/^for\s+/i, 'ask-for'],
    [/^(?:about|on|regarding|concerning)\s+/i, 'ask-about'],
    [/^to\s+/i, 'request'],
  ],
  tell: [
    [/^that\s+/i, 'state'],
    [/^(?:about|of|on|regarding|concerning)\s+/i, 'inform-of'],
    [/^to\s+/i, 'request'],
  ],
  remind: [
    [/^that\s+/i, 'remind-that'],
    [/^(?:about|of|on|regarding|concerning)\s+/i, 'remind-of'],
    [/^to\s+/i, 'remind-to'],
  ],
  thank: [[/^(?:for|about)\s+/i, 'thank']],
  apologise: [[/^(?:for|about|that)\s+/i, 'apologise']],
  congratulate: [[/^(?:on|for)\s+/i, 'congratulate']],
  invite: [[/^(?:to|for)\s+/i, 'invite']],
  announce: [[/^that\s+/i, 'announce-that']],
  'follow up': [
    [/^(?:whether|if)\s+/i, 'question'],
    [/^that\s+/i, 'state'],
    [/^(?:on|about|regarding|concerning|for)\s+/i, 'follow-up'],
  ],
  offer: [[/^to\s+/i, 'offer']],
  propose: [[/^that\s+/i, 'propose']],
  confirm: [[/^(?:that|about|regarding)\s+/i, 'confirm']],
  welcome: [[/^to\s+/i, 'welcome']],
  share: [[/^(?:about|regarding)\s+/i, 'topic']],
  arrange: [[/^for\s+/i, 'arrange']],
  write: [
    [/^that\s+/i, 'state'],
    [/^(?:whether|if)\s+/i, 'question'],
    [/^(?:about|regarding|concerning|re:?|on|with regard to|in regard to)\s+/i, 'topic'],
    [/^(?:asking\s+)?for\s+/i, 'topic'],
    [/^to\s+/i, 'request'],
    [/^with\s+/i, 'share'],
    [/^because\s+/i, 'state'],
    [/^and\s+(?=\p{Ll})/u, 'intend'],
  ],
};

const UNMARKED: Readonly<Record<Manner, Act>> = {
  ask: 'ask-for', tell: 'state', remind: 'remind-that', thank: 'thank', apologise: 'apologise',
  congratulate: 'congratulate', invite: 'invite', announce: 'announce', 'follow up': 'follow-up', offer: 'offer',
  propose: 'propose', confirm: 'confirm', welcome: 'welcome', share: 'share', arrange: 'arrange', write: 'state',
}; // prettier-ignore

/** "the newsletter announcing that ...": what it says is given, so nothing has to be enclosed. */
const ANNOUNCED =
  /\s(?<clause>(?:announcing|saying|telling|explaining|asking|inviting|reminding|thanking)\s[\s\S]+)$/i;

/** Manners that say something by themselves: "thank Ada" needs no object. */
const COMPLETE: ReadonlySet<Manner> = new Set(['thank', 'apologise', 'congratulate', 'welcome', 'follow up']);

function pointOf(manner: Manner, rest: string): Point | undefined {
  const text = rest.replace(/[\s,;]+$/, '');
  if (!/[\p{L}\p{N}]/u.test(text))
    return COMPLETE.has(manner) ? { act: UNMARKED[manner], text: '' } : undefined;
  for (const [pattern, act] of MARKERS[manner]) {
    const marker = text.match(pattern)?.[0];
    if (marker !== undefined) return { act, text: text.slice(marker.length) };
  }
  // "ask her when ...": the question word is part of the question. A possessive asks for a fact: "ask her shoe size".
  if (new RegExp(`^${WH}\\b`, 'i').test(text) && manner !== 'announce') {
    return { act: manner === 'ask' || manner === 'write' ? 'inquiry' : 'inform-of', text };
  }
  if (manner === 'ask' && /^(?:her|his|their)\s/i.test(text)) return { act: 'inquiry', text };
  // "email Ada the release notes" hands over a thing, "email Ada the demo moved" says something.
  if (UNMARKED[manner] === 'state' && isThing(text)) return { act: 'share', text };
  return { act: UNMARKED[manner], text };
}

const FINITE =
  /\b(?:is|are|was|were|has|have|had|will|would|can|could|may|might|must|should|do|does|did|isn['’]t|aren['’]t|won['’]t|can['’]t|ships?|starts?|ends?|works?|costs?|moves?|opens?|closes?|arrives?|needs?|includes?|stays?|begins?|expires?|comes?|goes|takes?|went|came|left|won|lost|got|sent|made|paid|sold|(?<!\b(?:the|an?|our|my|their|his|her) )\p{L}{2,}ed)\b/iu;

/** Whether the words name something and say nothing about it. */
export function isThing(text: string): boolean {
  return /^(?:the|an?|our|my|this|these|those|some|all|her|his|their)\s/i.test(text) && !FINITE.test(text);
}
