import { idsIn } from './intents.js';
import { type Period, PERIODS, type Subject } from './look-up.js';
import { OPENING } from './openings.js';
import { type ForMe, type MemberRequest, requestsIn } from './requests.js';
import { readSentences } from './sentences.js';

/**
 * What a message plainly asks for, by rules alone. They only choose what is read, or which of the member's own words are handed
 * in as a directive; nothing else can come of a message, whatever it says.
 */
export interface PlainMessage {
  /** What the chat never does, each once. */
  refused: RefusedAct[];
  /** What it hands in, word for word. */
  requests: MemberRequest[];
  /** It hands something in, and where that ends is not sure. */
  isUnclear: boolean;
  /** Records that it names. */
  ids: string[];
  subjects: Subject[];
  periods: Period[];
  /** Whose changes it asks for, and not only how it is now. */
  changesOf: 'kill_switch' | 'guardian' | null;
  /** It asks for nothing but this, so no model is needed. */
  isPlain: boolean;
}

type PlainQuestion = Omit<PlainMessage, 'requests' | 'isUnclear'>;

const REFUSED_ACTS = ['decide', 'mode', 'kill', 'orders', 'settings'] as const;
export type RefusedAct = (typeof REFUSED_ACTS)[number];

/** Whatever a decision is about, in the words that people use for it. */
const DECIDED = String.raw`(?:\b(?:apr|pkt|dir)_|\bapprovals?\b|\bdrafts?\b|\bpackets?\b|\bdirectives?\b|\beverything\b|\ball of (?:it|them)\b|\bit all\b|\bthem all\b|\bpending\b)`;

const ACTS: readonly (readonly [RefusedAct, RegExp])[] = [
  [
    'decide',
    begins(
      String.raw`(?:dis)?approve\b|reject\b|decline\b|(?:accept|confirm|release|sign off|authori[sz]e|greenlight|decide|dismiss)\b.{0,80}?${DECIDED}|genehmig|gib\b.{0,80}\bfrei\b|lehne?\b.{0,80}\bab\b|approuve|rejet|aprueb|aprobar|rechaz|approva\b|respingi`,
    ),
  ],
  ['decide', /批准|承認|승인|одобри|утверди|onayla|goedkeur|zatwierdź|aprove\b|godkänn/iu],
  [
    'mode',
    begins(
      String.raw`(?:set|change|switch|put|turn|make|bring|stelle?|schalte?|passe|mets|cambia|pon)\b.{0,60}\b(?:guardian|mode|modus|autonomous|autonom|observe|supervised|guardrailed)\b`,
    ),
  ],
  [
    'kill',
    begins(
      String.raw`(?:engage|pull|press|hit|activate|release|lift|end|undo|disengage|turn (?:on|off))\b.{0,30}\bkill(?:[- ]switch)?\b|(?:kill|halt|stop|resume|restart|revert|restore)\b.{0,30}\b(?:everything|all (?:work|operations)|the workspace|operations|the kill)`,
    ),
  ],
  [
    'orders',
    begins(
      String.raw`(?:activate|pause|archive|delete|remove|create|add|write|change|edit|loosen|relax|disable|enable|turn (?:on|off)|aktivier\w*|lösche?|ändere?|active[rz]?|supprime|activa|borra)\b.{0,60}(?:\bstanding orders?\b|\bso_|\brules?\b|daueranweisung|regel)`,
    ),
  ],
  [
    'settings',
    begins(
      String.raw`(?:change|set|update|raise|lower|increase|turn (?:on|off)|disable|enable|add|remove|invite|delete|revoke|create|ändere?|setze?)\b.{0,60}\b(?:settings?|budget|quiet hours|time ?zone|retention|notifications?|tokens?|members?|roles?|webhooks?|destinations?|password|einstellung\w*)\b`,
    ),
  ],
];

function begins(acts: string): RegExp {
  return new RegExp(`^${OPENING}(?:${acts})`, 'iu');
}

/** Words of a language that an operator may write in; the answer is in English all the same. */
const SUBJECT_WORDS: Readonly<Record<Exclude<Subject, 'record'>, RegExp>> = {
  waiting:
    /\b(?:wait(?:s|ing)?|pending|approvals?|escalations?|to (?:approve|decide)|needs? (?:me|my|a decision))\b|\bwartet\b|freigaben?\b|\bapprobations?\b|\battend\b|\baprobaciones\b|\besper[ae]\b|in attesa/i,
  directives:
    /\bdirectives?\b|\b(?:what|which work) (?:did|have|has|are|is) (?:the )?(?:capos?|everyone|everybody)\b/i,
  signals: /\b(?:signals?|alerts?|warnings?)\b|\bsignale\b|\bwarnungen\b|\bsignaux\b|\bseñales\b/i,
  revenue:
    /\b(?:revenue|income|sales|turnover|earn(?:ed|ings)?)\b|\bums[aä]tze?\b|\beinnahmen\b|\brevenus\b|\bingresos\b/i,
  cost: /\b(?:costs?|spen[dt]|spending|expenses?)\b|\bkosten\b|\bcoûts?\b|\bcoste?s?\b/i,
  standing_orders: /\bstanding orders?\b|\brules?\b/i,
  guardian: /\bguardian\b|\bkill(?:ed|[- ]?switch)\b|\bmode\b|\bmodus\b|\bhalted\b|\bnot-?(?:aus|stopp)\b/i,
  buyers: /\b(?:buyers?|trust scores?|confidence)\b/i,
};

const PERIOD_WORDS: Readonly<Record<Period, RegExp>> = {
  today: /\btoday\b|\bheute\b/i,
  yesterday: /\byesterday\b|\bgestern\b/i,
  'this week': /\bthis week\b|\bdiese woche\b/i,
  'last week': /\blast week\b|\b(?:letzte|vorige) woche\b/i,
  'this month': /\bthis month\b|\bdiesen monat\b/i,
  'last month': /\blast month\b|\b(?:letzten|vorigen) monat\b/i,
};

/** What takes thought, and so a model where there is one. */
const THOUGHT =
  /\b(?:compare|suggest|summari[sz]e|should|recommend|because|better|trend|write|draft|translate|plan|think|opinion|why|how come|explain|what if|except|without|about)\b/i;
const ASKS_WHY =
  /\b(?:why|explain|how come|reason|decision|denied|allowed|asked about|warum|wieso|pourquoi|por qué)\b/i;
const QUESTION =
  /^(?:what|what['’]s|which|who|how (?:much|many)|is|are|do|does|did|has|have|show|list|tell me|give me|any|anything|was|wie ?viel|zeig|combien|quel|cuánto)\b/i;

const HELP = /^(?:help|hilfe|aide|ayuda|aiuto|what can you do)$/i;

const MAX_PLAIN = 160;
const MAX_CLAUSES = 50;

const KILL_SWITCH = /kill|halted|not-?(?:aus|stopp)/i;
/** "Why did the kill switch go off?": what happened to it stands in receipts, so it takes no thought. */
const WHO_STOPPED =
  /^(?:why|who|when|how come|what (?:is|was) the reason|warum|wieso|weshalb|wer|wann|pourquoi|qui|quand|por qué|quién|cuándo)(?!\p{L}).*(?:kill|halted|not-?(?:aus|stopp)|guardian|mod[eu]s?(?!\p{L}))/iu;
/** Of the kill switch or the mode: who, why, and when. */
const ASKS_FOR_CHANGES =
  /\b(?:why|who|when|how come|reason|explain|last|ever|recently|did|was|were|been|changed?|warum|wieso|weshalb|wer|wann|zuletzt|wurde|pourquoi|qui|quand|quién|cuándo)\b|por qué/i;

export function readMessage(message: string): PlainMessage {
  const text = message.trim();
  const found = requestsIn(readSentences(text), forMe);
  if (!found) return { ...readQuestion(text), requests: [], isUnclear: false };
  if (!found.isClear) return { ...readQuestion(text), requests: [], isUnclear: true, isPlain: false };
  const beside = found.beside.map(readQuestion);
  return {
    refused: REFUSED_ACTS.filter((act) => beside.some(({ refused }) => refused.includes(act))),
    requests: found.requests,
    isUnclear: false,
    ids: eachOnce(beside.flatMap(({ ids }) => ids)),
    subjects: eachOnce(beside.flatMap(({ subjects }) => subjects)),
    periods: eachOnce(beside.flatMap(({ periods }) => periods)),
    changesOf: beside.find(({ changesOf }) => changesOf !== null)?.changesOf ?? null,
    isPlain: true,
  };
}

const forMe: ForMe = (sentence, isBehindRequest) => {
  if (clausesOf(sentence).some((clause) => actsIn(clause).length > 0)) return 'act';
  const isForSure = !isBehindRequest || /[?？]$|(?<!\p{L})(?:me|mir)(?!\p{L})/iu.test(sentence);
  const { isPlain, subjects } = readQuestion(sentence);
  return isForSure && isPlain && subjects.length > 0 ? 'question' : undefined;
};

function readQuestion(text: string): PlainQuestion {
  const clauses = clausesOf(text);
  const acts = clauses.map(actsIn);
  const refused = REFUSED_ACTS.filter((act) => acts.some((each) => each.includes(act)));
  const asked = clauses.filter((_, at) => acts[at]!.length === 0).join('. ');
  const ids = idsIn(text);
  const found = subjectsIn(asked);
  // With a record named, what is asked is about the record.
  const isAboutRecord = ids.length > 0 && asked !== '';
  const subjects: Subject[] = isAboutRecord ? ['record'] : found;
  return {
    refused,
    ids: isAboutRecord ? ids : [],
    subjects,
    periods: PERIODS.filter((period) => PERIOD_WORDS[period].test(asked)),
    changesOf: !ASKS_FOR_CHANGES.test(asked) ? null : KILL_SWITCH.test(asked) ? 'kill_switch' : 'guardian',
    isPlain: asked === '' || HELP.test(asked) || isPlainQuestion(asked, subjects, ids),
  };
}

function isPlainQuestion(asked: string, subjects: readonly Subject[], ids: readonly string[]): boolean {
  if (asked.length > MAX_PLAIN || subjects.length !== 1) return false;
  if (subjects[0] === 'record') return ids.length === 1 && (ASKS_WHY.test(asked) || asked === ids[0]);
  const words = asked.split(/\s+/).length;
  if (subjects[0] === 'guardian' && WHO_STOPPED.test(asked)) return words <= 14;
  return !THOUGHT.test(asked) && (words <= 3 || (QUESTION.test(asked) && words <= 14));
}

function subjectsIn(text: string): Subject[] {
  const found = (Object.keys(SUBJECT_WORDS) as (keyof typeof SUBJECT_WORDS)[]).filter((subject) =>
    SUBJECT_WORDS[subject].test(text),
  );
  // "directives" in a question about what waits says what waits.
  return found.length > 1 ? found.filter((subject) => subject !== 'directives') : found;
}

function actsIn(sentence: string): RefusedAct[] {
  return ACTS.filter(([, said]) => said.test(sentence)).map(([act]) => act);
}

/** As far apart as can be, so that nothing hides behind something else. A dot inside a number or an id ends none. */
function clausesOf(text: string): string[] {
  return text
    .split(/[!?;\n]+|\.(?=\s|$)|。/u)
    .map((clause) => clause.trim())
    .filter((clause) => clause !== '')
    .slice(0, MAX_CLAUSES);
}

function eachOnce<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
