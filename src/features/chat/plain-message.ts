import { type CapoRole, capoCalled } from '../capos/capo.js';
import { idsIn } from './intents.js';
import { type Period, PERIODS, type Subject } from './look-up.js';

/**
 * What a message plainly asks for, by rules alone. They only choose what is read, or which of the member's own words are handed
 * in as a directive; nothing else can come of a message, whatever it says.
 */
export interface PlainMessage {
  /** What the chat never does, each once. */
  refused: RefusedAct[];
  /** The part of the message that is to be handed in, word for word. */
  directive: { text: string; capo: CapoRole | null } | null;
  /** Records that it names. */
  ids: string[];
  subjects: Subject[];
  periods: Period[];
  /** It asks for nothing but this, so no model is needed. */
  isPlain: boolean;
}

const REFUSED_ACTS = ['decide', 'mode', 'kill', 'orders', 'settings'] as const;
export type RefusedAct = (typeof REFUSED_ACTS)[number];

/** How people begin before they come to it. */
const OPENING = String.raw`(?:(?:please|pls|hey|hi|hello|ok(?:ay)?|now|just|then|so|and|also|first|consigliere|go ahead and|i want you to|i need you to|you (?:must|should|may|can|have to)|(?:can|could|would|will) you(?: please)?|bitte|kannst du|könnten sie|s['’]il (?:te|vous) pla[iî]t|peux-tu|pouvez-vous|por favor|puedes|puede|per favore|puoi)[\s,:!]+)*`;

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

const HAND_IN = [
  new RegExp(
    String.raw`^${OPENING}(?:ask|tell|instruct)\s+(?<whom>[\w ]{2,40}?)\s+to\s+(?<text>\S.*)$`,
    'isu',
  ),
  new RegExp(String.raw`^${OPENING}hand (?:this |it )?in(?: as a directive)?\s*[:,]\s*(?<text>\S.*)$`, 'isu'),
  new RegExp(
    String.raw`^${OPENING}(?:new )?directive(?: for (?<whom>[\w ]{2,40}?))?\s*:\s*(?<text>\S.*)$`,
    'isu',
  ),
];

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
  guardian: /\bguardian\b|\bkill(?:ed|[- ]switch)\b|\bmode\b|\bmodus\b/i,
  buyers: /\b(?:buyers?|trust scores?|confidence)\b/i,
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
const MAX_SENTENCES = 50;

export function readMessage(message: string): PlainMessage {
  const text = message.trim();
  const directive = directiveIn(text);
  if (directive) {
    return { refused: [], directive, ids: [], subjects: [], periods: [], isPlain: true };
  }
  const sentences = sentencesOf(text);
  const acts = sentences.map(actsIn);
  const refused = REFUSED_ACTS.filter((act) => acts.some((each) => each.includes(act)));
  const asked = sentences.filter((_, at) => acts[at]!.length === 0).join('. ');
  const ids = idsIn(text);
  const found = subjectsIn(asked);
  // With a record named, what is asked is about the record.
  const isAboutRecord = ids.length > 0 && asked !== '';
  const subjects: Subject[] = isAboutRecord ? ['record'] : found;
  return {
    refused,
    directive: null,
    ids: isAboutRecord ? ids : [],
    subjects,
    periods: PERIODS.filter((period) => asked.toLowerCase().includes(period)),
    isPlain: asked === '' || HELP.test(asked) || isPlainQuestion(asked, subjects, ids),
  };
}

function isPlainQuestion(asked: string, subjects: readonly Subject[], ids: readonly string[]): boolean {
  if (asked.length > MAX_PLAIN || subjects.length !== 1) return false;
  if (subjects[0] === 'record') return ids.length === 1 && (ASKS_WHY.test(asked) || asked === ids[0]);
  const words = asked.split(/\s+/).length;
  return !THOUGHT.test(asked) && (words <= 3 || (QUESTION.test(asked) && words <= 14));
}

function directiveIn(text: string): PlainMessage['directive'] {
  for (const pattern of HAND_IN) {
    const groups = pattern.exec(text)?.groups;
    if (!groups) continue;
    const { whom, text: said } = groups;
    const capo = whom === undefined ? null : capoCalled(whom);
    // Somebody else may be asked too: that is for a model to understand, or a person.
    if (capo !== undefined) return { text: said!.replace(/\s*\?\s*$/, '').trim(), capo };
  }
  return null;
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

/** A dot inside a number or an id ends no sentence. */
function sentencesOf(text: string): string[] {
  return text
    .split(/[!?;\n]+|\.(?=\s|$)|。/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '')
    .slice(0, MAX_SENTENCES);
}
