import { capoCalled } from '../capos/capo.js';
import { isPolite, openingOf } from './openings.js';
import type { SaidText, Sentence } from './sentences.js';

/** What makes of a request its opposite, or none. */
export type Governor = 'negation' | 'question';

/**
 * Whether the sentence says what not to do, or asks instead of asking for something: by itself, by the heading above it ("Never do
 * this:"), or by the words behind it that take it back ("No, don't."). What stands behind a colon, in quotation marks or behind
 * "tell her that" is what is to be said, and governs nothing.
 *
 * The languages are English and German, with the plain negations of French, Spanish and Italian. A negation that is overlooked
 * stays in the directive, since that is a whole sentence; one too many costs the member another message.
 */
export function governorOf(said: SaidText, at: number, from?: number): Governor | undefined {
  const { sentences } = said;
  const sentence = sentences[at]!;
  const own = ofItself(sentence.masked.slice(Math.max(0, (from ?? 0) - sentence.start)));
  if (own) return own;
  if (isTakenBack(said, at)) return 'negation';
  return headingsOf(sentences, at)
    .map(({ masked }) => ofItself(masked))
    .find((governor) => governor !== undefined);
}

/** Whether the next words take it back: "No, don't." */
export function isTakenBack({ sentences }: SaidText, at: number): boolean {
  const next = sentences[at + 1];
  return next !== undefined && TAKES_BACK.test(next.masked);
}

/** Whether the words say what not to do. */
export function isNegated(masked: string): boolean {
  const clauses = clausesOf(commandIn(masked.slice(openingOf(masked).length)));
  if (clauses.some(({ words }) => NOTHING_BUT_NO.test(words))) return true;
  const told =
    clauses.findLast(({ isPlea, words }) => isPlea && words.includes(' ')) ??
    clauses.find(({ words }) => words.includes(' ') && !SUBORDINATE.test(words)) ??
    clauses.at(-1);
  if (!told) return false;
  const all = told.words.replace(NOT_A_NEGATION, ' ');
  // "Tell Jane the parcel is not lost": what is told begins somewhere behind the first words.
  const words = TELLS.test(all) ? all.split(/\s+/, 4).join(' ') : all;
  return [NEGATION, NEGATION_EARLY, NEGATION_ELSEWHERE].some((no) => no.test(words)) || TO_NOBODY.test(all);
}

/** Whether something is to be said with it: what follows belongs to that. */
export function saysSomething(masked: string): boolean {
  return COLON.test(masked);
}

function ofItself(masked: string): Governor | undefined {
  const opening = openingOf(masked);
  const words = masked.slice(opening.length);
  if (ASKS.test(words)) return 'question';
  if (!isPolite(opening) && !saysSomething(words) && ENDS_AS_QUESTION.test(words)) return 'question';
  const last = words.split(/[,.;!?…]\s+/).at(-1)!;
  const endsByTakingBack = last !== words && TAKES_BACK.test(last);
  return endsByTakingBack || isNegated(words) ? 'negation' : undefined;
}

/** What these words are an entry of, or stand under. */
function headingsOf(sentences: readonly Sentence[], at: number): Sentence[] {
  const { isEntry } = sentences[at]!;
  const above = sentences.slice(0, at);
  const heading = above.findLast(isEntry ? (each) => !each.isEntry : ({ masked }) => /[:–—-]$/.test(masked));
  const last = above.at(-1);
  const isBroken = last && last.line < sentences[at]!.line && isFragment(last);
  return [...(heading ? [heading] : []), ...(isBroken ? [last] : [])];
}

/** A few words in a line of their own that nothing ends: "Do not", "No mails today". */
function isFragment({ masked }: Sentence): boolean {
  return !/[.!?…]["”’»)\]]*$/.test(masked) && masked.split(/\s+/, 5).length <= 4;
}

/** The part of the words that tells somebody to do something. */
function commandIn(words: string): string {
  const ends = [SAID, TOLD_THAT, RELATIVE].map((pattern) => {
    const found = pattern.exec(words);
    return found ? found.index + (found.groups?.['told']?.length ?? 0) : words.length;
  });
  const command = words.slice(0, Math.min(...ends));
  const toldNotTo = TOLD_NOT_TO.exec(command)?.groups?.['whom'];
  // "Tell Jane not to worry" is a message, "tell ops not to write" is none.
  return toldNotTo !== undefined && capoCalled(toldNotTo) === undefined
    ? command.slice(0, command.indexOf(toldNotTo) + toldNotTo.length)
    : command;
}

interface Clause {
  words: string;
  /** It begins with "please": this is what is asked for, whatever stands before it. */
  isPlea: boolean;
}

function clausesOf(command: string): Clause[] {
  return command
    .split(/[,;]\s+(?!(?:dass|that|damit|so that)(?!\p{L}))|\s[–—-]\s/u)
    .map((clause) => clause.trim())
    .map((clause) => ({ words: clause.slice(openingOf(clause).length), isPlea: PLEA.test(clause) }))
    .filter(({ words }) => /\p{L}/u.test(words));
}

const COLON = /:(?=\s|$)/;
const ENDS_AS_QUESTION = /[?？]["”’»)\]]*\s*$/;
const SAID = /:(?=\s|$)|[\uFDD0\uFDD3]/;
const TOLD_THAT =
  /(?<!\p{L})(?<told>(?:(?:tell|told)(?!\s+you(?!\p{L}))|inform|write|say|saying|says|mail|email|e-mail|post|announce|explain|stating|mention|remind|know|schreib\p{L}{0,3}|sag\p{L}{0,3}|informier\p{L}{0,3}|meld\p{L}{0,3}|teil\p{L}{0,3}|erklär\p{L}{0,3}|erinner\p{L}{0,3})(?!\p{L}).{0,120}?)(?<!\p{L})(?:that|dass|why|whether|ob|warum)(?!\p{L})/iu;
const RELATIVE = /(?<=\S\s)(?:who|whom|whose|which)(?!\p{L})/iu;
const TOLD_NOT_TO =
  /^(?:tell|ask|remind|urge|warn|advise|beg)\s+(?<whom>(?:(?!not\s|never\s)\S+\s+){0,7}?(?!not\s|never\s)\S+)\s+(?:not|never)\s+to(?!\p{L})/iu;

const TELLS = /^(?:tell|inform|remind|assure|write|email|e-mail|mail|message|text|answer|reply)(?!\p{L})/iu;
const TO_NOBODY = /(?<!\p{L})to (?:nobody|no one|none of)(?!\p{L})/iu;

const PLEA = /^(?:please|pls|bitte|por favor|per favore|s['’]il (?:te|vous) pla[iî]t)(?!\p{L})/iu;
const SUBORDINATE =
  /^(?:if|when|once|whenever|whatever|no matter|as|while|before|after|unless|until|since|because|although|wenn|falls|sobald|egal|was auch|bevor|nachdem|solange|weil|da|obwohl|damit|quand|si|cuando)(?!\p{L})/iu;

/** Words of a negation that deny nothing. */
const NOT_A_NEGATION =
  /(?<!\p{L})(?:(?:do not|don['’]?t|never) forget|not only|why not|no (?:rush|hurry|problem|worries|later than|earlier than|more than|less than|fewer than)|not (?:later|earlier|more|less) than|(?:with|at|of|in) no(?! (?:case|event|way|circumstances))|nicht (?:nur|zuletzt|später als|mehr als|weniger als|vergessen)|vergiss (?:bitte )?nicht|vergessen sie (?:bitte )?nicht|keine eile|kein problem)(?!\p{L})/giu;
const NEGATION =
  /(?<!\p{L})(?:(?:do|does|did|should|must|may|might|can|could|will|would|shall|is|are|was|were|be|has|have|had|need|want|let['’]s|ought)\s+(?:[\p{L}'’]+\s+){0,2}?not|not\s+to|cannot|\p{L}{2,}n['’]t|dont|cant|wont|never|nobody|no one|nothing|none|neither|nor|nowhere|under no circumstances|in no (?:case|event|way)|on no account|by no means|no way|no longer|no more|(?:refrain|abstain|hold off|desist|stop|avoid|quit)\s+(?:from\s+|on\s+)?\p{L}{2,}ing|nicht|nichts|nie|niemals|niemand(?:em|en|es)?|kein(?:e|en|er|em|es|esfalls|eswegs|erlei)?|nirgends|weder|unterlass(?:e|en|t)?|hört? auf|höre auf|verzichte|vermeide)(?![\p{L}-])/iu;
/** "Send no mail", and not "Order them in boxes with no label". */
const NEGATION_EARLY = /^(?:\S+\s+){0,3}(?:no|not)(?![\p{L}-])/iu;
const NEGATION_ELSEWHERE =
  /(?<!\p{L})(?:(?:ne\s+|n['’])\S+(?:\s\S+){0,4}?\s(?:pas|jamais|rien|plus|aucune?)|jamais|nunca|jamás|ningun[ao]?|nessun[ao]?)(?!\p{L})|^(?:no|non)\s/iu;
const NOTHING_BUT_NO =
  /^(?:(?:do|does|must|should|shall|can|will)\s+not|\p{L}{2,4}n['’]t|dont|never|not|nicht|nie|niemals|keinesfalls|auf keinen fall|under no circumstances|on no account)[\s.!]*$/iu;

/** How a question begins that asks for nothing to be done, with or without its mark. */
const ASKS =
  /^(?:(?:is|are|was|were|am|does|did|has|had|may|might|must|shall|should)\s+(?:i|we|it|he|she|they|there|this|that|any|anyone|anybody|someone|somebody|you)(?!\p{L})|(?:do|have)\s+(?:i|we|they|you)(?!\p{L})|(?:can|could|will|would)\s+(?:i|we|it|he|she|they|there|this|that|anyone|anybody|someone|somebody)(?!\p{L})|(?:why|how|whether|whose|what(?!\s+(?:i|we)\s+(?:need|want)))(?![\p{L}-])|i (?:wonder|am wondering)|i['’]m wondering|(?:warum|wieso|weshalb|ob)(?!\p{L})|(?:soll|sollte|sollen|sollten|darf|dürfte|dürfen|kann|könnte|können|könnten|muss|müssen|müsste|müssten|hat|habe|haben|ist|sind|war|waren|wird|werden|würde|würden|wäre|wären)\s+(?:ich|wir|man|es|das|jemand)(?!\p{L})|ich frage mich|(?:imagine|suppose|supposing|let['’]?s say|hypothetically|if i (?:said|say|told|asked|were to)|angenommen|stell dir vor|stellen sie sich vor|wenn ich (?:sage|sagte|sagen würde))(?!\p{L}))/iu;

const HESITATES = String.raw`(?:oh|well|actually|sorry|hm+|ach|äh|on second thoughts?)(?!\p{L})[\s,.!…–-]*`;
const RETRACTS = [
  ...['no', 'nope', 'nah', 'nein', 'nee', 'non', 'wait', 'stop', 'halt', 'never ?mind', 'not really'],
  ...['(?:scratch|forget|cancel|ignore) (?:it|that|this)', 'better not', 'rather not', 'maybe not'],
  ...['(?:just|only) (?:kidding|joking)', '(?:just|that was|this is|it was) (?:just )?a joke'],
  ...[
    "(?:please )?(?:do not|don['’]?t)(?: do)?(?: (?:it|that|this|so))?",
    "i (?:do not|don['’]?t) mean (?:it|that)",
  ],
  ...[
    '(?:bitte )?(?:doch |lieber |besser )?nicht(?: wirklich)?',
    'vergiss (?:es|das)',
    'vergessen sie (?:es|das)',
  ],
  ...['lass (?:es|das)(?: (?:sein|bleiben))?', '(?:mach|tu) (?:es|das) (?:bitte )?(?:doch )?nicht'],
  ...['(?:war )?nur (?:ein )?(?:spaß|scherz|witz)', '(?:das )?war ein (?:spaß|scherz|witz)'],
].join('|');
/** Words by themselves that take back what was said before them. */
const TAKES_BACK = new RegExp(
  String.raw`^(?:${HESITATES})*(?:(?:${RETRACTS})(?!\p{L})[\s,.!…–-]*(?:${HESITATES})*)+$`,
  'iu',
);
