import { lookAlike } from '../../../platform/kernel/look-alikes.js';
import { cutText } from '../../../platform/kernel/text.js';
import { isMailAddress } from '../action-params.js';
import { capoCalled } from '../capo.js';
import { type Kind, kindsOf } from './words.js';

const READABLE = 20_000;
/** The most words that lead to a mark. */
const LEAD = 30;
const CONTROLS = /(?![\t\n])[\p{Cc}\ufeff\ufdd0-\ufdd3]/gu;
/** Quotation marks: the first, and those that end it. Between letters they are apostrophes. */
const QUOTED = ['““”', '„“”"', '«»', '»«', '‹›', '``', '""', '‘’', '‚‘’', "''"].map(([first, ...ends]) => {
  const [any, last] = [`[${first}${ends.join('')}]`, `[${ends.join('')}](?![\\p{L}\\p{N}])`];
  return String.raw`(?<![\p{L}\p{N}])${first}(?:(?!${any})[^]|(?<=\p{L})${any}(?=\p{L}))+${last}`;
});
/** Quotation marks that pair with no other: nobody can say where the quotation ends. */
const TORN = '"“”„«»‘‚';
const LOCAL = String.raw`(?<![\p{L}\p{N}._%+@-])[\p{L}\p{N}_][\p{L}\p{N}._%+'-]{0,63}`;
const ADDRESS = String.raw`${LOCAL}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,63}(?![\p{L}\p{N}@])`;
const WORD = String.raw`[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}]|['’._/@-](?=[\p{L}\p{N}])|(?<=\d)[,:](?=\d))*`;
const TOKEN = new RegExp(
  String.raw`(?<quote>${QUOTED.join('|')})|https?://\S{1,2000}|(?<address>${ADDRESS})|(?<word>${WORD})|(?<line>\n\s*)|\S`,
  'gu',
);
/** What somebody else wrote. */
const OTHERS =
  /^[ \t]*(?:>[^\n]*(?:\n[ \t]*>[^\n]*)*|(?:-{3,}|.{0,30}(?:forwarded|original|weitergeleitete|ursprüngliche) (?:message|nachricht)|(?:from|von|de)[ \t]*:.*@)[^]*)/gimu;
/** What stands behind one of these is spoken of. */
const OF = /^(?:from|of|about|von|vom|über|de|du|del|sobre)$/i;
const ABBREVIATION = /^(?:mr|mrs|ms|dr|st|no|nr|ltd|inc|co|corp|bros|\p{L})$/iu;
/** These change nothing. */
const KNOWN: Kind[] = ['filler', 'mail', 'write', 'to', 'and', 'each', 'text', 'polite'];

export const clean = (text: string) => text.toWellFormed().replace(/\r\n?/g, '\n').replace(CONTROLS, '');
export const oneLine = (text: string): string => text.replace(/[\s\u2028\u2029]+/g, ' ').trim();
export const addressesIn = (text: string) =>
  (text.match(new RegExp(ADDRESS, 'gu')) ?? []).filter(isMailAddress);

/** `text` of a quotation is what stands between its marks; an address that is `alike` may be taken for another one. */
type Token = {
  kind: 'word' | 'quote' | 'address' | 'alike' | 'line' | 'sign';
  text: string;
  kinds?: ReadonlySet<Kind> | undefined;
  start: number;
  end: number;
};
/** `next`: where the value begins. A bare one has neither a colon nor a quotation; one that ends a text is sure to be a label. */
export interface Label {
  kind: 'subject' | 'text' | 'copy' | 'blind';
  next: number;
  isEnd: boolean;
  isBare: boolean;
}

/** An instruction as a row of tokens, and the labels among them. */
export class Marks {
  readonly text: string;
  readonly tokens: readonly Token[];
  /** What is not read. */
  readonly unread: string[] = [];
  readonly labels = new Map<number, Label>();
  /** Without the lines of others. */
  readonly #read: string;

  constructor(given: string) {
    this.text = clean(cutText(given, READABLE, '')).trimEnd();
    if (given.length > READABLE) this.unread.push(`all that stands behind the first ${READABLE} characters`);
    this.#read = this.text.replace(OTHERS, (said) => {
      this.unread.push(said);
      return ' '.repeat(said.length);
    });
    this.tokens = [...this.#read.matchAll(TOKEN)].map(tokenOf);
    for (const at of this.tokens.keys()) {
      const label = this.#labelAt(at);
      if (label) this.labels.set(at, label);
    }
  }

  kind = (at: number): Token['kind'] | undefined => this.tokens[at]?.kind;
  word = (at: number): string => this.tokens[at]?.text ?? '';
  is = (at: number, ...kinds: Kind[]): boolean => kinds.some((kind) => this.tokens[at]?.kinds?.has(kind));
  isSign = (at: number, signs: string): boolean => this.kind(at) === 'sign' && signs.includes(this.word(at));
  isTorn = (at: number): boolean => this.isSign(at, TORN);
  isAddress = (at: number): boolean => this.kind(at) === 'address' || this.kind(at) === 'alike';
  isCapital = (at: number): boolean => this.kind(at) === 'word' && /^[\p{Lu}\d]/u.test(this.word(at));
  isAbbreviation = (at: number): boolean => ABBREVIATION.test(this.word(at));
  /** That of "To:" begins no text. */
  isColon = (at: number): boolean => this.isSign(at, ':：') && !this.is(at - 1, 'to');
  isBoundary = (at: number): boolean =>
    this.isStart(at) || this.isSign(at - 1, ',;') || this.is(at - 1, 'and');
  /** An address, a label or a quotation. */
  isMark = (at: number): boolean => this.isAddress(at) || this.labels.has(at) || this.kind(at) === 'quote';
  /** What a text without quotation marks rarely holds. */
  isLoose = (at: number): boolean => this.isAddress(at) || this.labels.has(at) || this.isTorn(at);
  /** Changes nothing. */
  isFiller = (at: number): boolean =>
    this.kind(at) === 'sign' || this.isItem(at) || this.is(at, ...KNOWN) || this.isNamed(at);
  /** A name before an address, or a word behind "my": "Jane Doe <jane@acme.example>". */
  isNamed(at: number): boolean {
    const isOther = (each: number) => this.is(each, ...KNOWN, 'not', 'copy') || OF.test(this.word(each));
    const isName = (each: number) =>
      this.isSign(each, '(<') || this.isAbbreviation(each - 1) || (this.isCapital(each) && !isOther(each));
    const next = this.find(at + 1, at + 7, (each) => !isName(each)) ?? at;
    const isBracketed = this.isSign(next - 1, '(<');
    if (this.kind(at) === 'quote') return this.isSign(at + 1, '<');
    if (!this.isAddress(next) || this.kind(at) !== 'word' || isOther(at)) return false;
    const isMine = this.is(at - 1, 'my') && next - at === (isBracketed ? 2 : 1);
    return isMine || (this.isCapital(at) && (isBracketed || !this.isStart(at)));
  }

  /** "1.", "2)" */
  isItem = (at: number): boolean =>
    /^\d{1,2}$/.test(this.word(at)) && this.isSign(at + 1, '.)') && this.isStart(at);
  slice = (from: number, to: number): string =>
    to > from ? this.#read.slice(this.tokens[from]!.start, this.tokens[to - 1]!.end) : '';

  find(from: number, to: number, isIt: (at: number) => boolean | undefined): number | undefined {
    for (let at = from; at < to; at += 1) if (isIt(at)) return at;
    return undefined;
  }

  /** Whether a sentence, a line or an entry of a list begins here. */
  isStart(at: number): boolean {
    const [before, token] = [this.tokens[at - 1], this.tokens[at]];
    if (!before || !token || before.kind === 'line') return true;
    if (before.kind === 'quote') return /[.!?…]$/.test(before.text) && this.isCapital(at);
    if (!this.isSign(at - 1, '.!?…') || before.end === token.start) return false;
    const isNumber = /^\d{1,2}$/.test(this.word(at - 2));
    const isGoingOn = isNumber && !this.is(at, ...KNOWN, 'command', 'subject', 'copy');
    return before.text !== '.' || !(isGoingOn || this.isAbbreviation(at - 2));
  }

  /** Behind the fillers of the sentence that stand here. */
  past(from: number, isEnd = (at: number) => this.labels.has(at) || this.isColon(at)): number {
    let at = from;
    while (at < from + LEAD && this.isFiller(at) && !isEnd(at) && (at === from || !this.isStart(at))) at += 1;
    return at;
  }

  /** The last of words of these kinds that follow each other, with nothing but fillers before each. */
  chain(from: number, ...kinds: Kind[]): number | undefined {
    let at = from - 1;
    for (const kind of kinds) {
      at = this.past(at + 1, (each) => this.is(each, kind));
      if (!this.is(at, kind)) return undefined;
    }
    return at;
  }

  /** "Remind me", "reply to me": what is asked of the runner itself. */
  isOurs = (at: number): boolean =>
    this.is(at, 'mail') && this.is(this.is(at + 1, 'to') ? at + 2 : at + 1, 'us');

  /** Where a verb asks for a mail, with nothing before it that changes it. */
  verbAt(from: number): number | undefined {
    const at = this.past(from, (each) => this.is(each, 'mail', 'write'));
    const isToCapo = /^(?:ask|tell|let)$/i.test(this.word(at)) && capoCalled(this.word(at + 1)) !== undefined;
    if (this.is(at, 'mail')) return this.isOurs(at) || isToCapo ? undefined : at;
    const isToSomebody = (each: number) =>
      this.is(each, 'letter') || this.isAddress(each) || /^(?:to|an|à|:)$/i.test(this.word(each));
    return this.is(at, 'write') && this.find(at + 1, this.sentenceEnd(at), isToSomebody) ? at : undefined;
  }

  /** Behind the line breaks that stand here. */
  pastLine = (at: number): number => (this.kind(at) === 'line' ? at + 1 : at);

  sentenceEnd(from: number): number {
    const isEnd = (at: number) => this.kind(at) === 'line' || this.isStart(at);
    return this.find(from + 1, this.tokens.length, isEnd) ?? this.tokens.length;
  }

  /** Where the entries of a list begin, if nothing that is marked stands before them. */
  entries(): number[] {
    const isItem = (at: number) =>
      (at === 0 || this.kind(at - 1) === 'line') && (this.isSign(at, '-*•–') || this.isItem(at));
    const all = [...this.tokens.keys()].filter(isItem);
    return this.find(0, all[0] ?? 0, this.isMark) === undefined ? all.filter(Boolean) : [];
  }

  /** An address whose message follows. */
  isTold(at: number): boolean {
    const next = this.past(at + 1);
    const isLed = this.is(next, 'subject', 'text') || this.isSign(next, ':') || this.kind(next) === 'quote';
    return this.isAddress(at) && isLed;
  }

  /** "Then call her." may be meant for the runner; "Please send us ..." is not. */
  isCommand(at: number): boolean {
    if (this.isSign(at - 1, '(')) return this.is(at, 'command');
    if (!this.isBoundary(at)) return this.is(at, 'mail') && this.is(at - 1, 'not');
    let verb = at;
    while (this.is(verb, 'polite') || (this.is(verb, 'and') && !this.is(verb, 'command'))) verb += 1;
    if (!this.isStart(at)) return this.is(verb, 'mail', 'write') && !this.isOurs(verb);
    return this.is(verb, 'command') && !this.is(verb + 1, 'us');
  }

  #labelAt(at: number): Label | undefined {
    const kind = (['blind', 'copy', 'subject', 'text'] as const).find((each) => this.is(at, each));
    if (!kind) return undefined;
    let next = at + 1;
    const between: Kind[] = kind === 'text' ? ['link', 'text'] : kind === 'copy' ? [] : ['link'];
    while (this.is(next, ...between)) next += 1;
    const isLinked = next > at + 1;
    const hasColon = this.isSign(next, ':：=');
    const value = this.pastLine(hasColon ? next + 1 : next);
    const isBare = !hasColon && this.kind(value) !== 'quote';
    const isSure = !isBare || isLinked;
    const isPlain = /^te?xt[eo]?$/i.test(this.word(at)) && this.kind(next) === 'word';
    const isCopied = /^cc$/i.test(this.word(at)) || this.is(next, 'to') || this.isAddress(next);
    if (!isSure && (kind === 'text' ? !isPlain : kind === 'copy' && !isCopied)) return undefined;
    const isEnd = kind === 'blind' || (isSure && kind !== 'text');
    return { kind, next: value, isEnd, isBare };
  }
}

/** No bracket ends that did not begin. A smiley is none, nor is "1)". */
export function isBalanced(text: string): boolean {
  const plain = text.replace(/[:;=]-?[)\]]|(?<!\S)[\p{L}\d]{1,2}\)(?=\s\p{L})/gu, '');
  return plain.split(/[([]/).length >= plain.split(/[)\]]/).length;
}

function tokenOf({ 0: all, index: start, groups }: RegExpExecArray): Token {
  const { quote, address, word, line } = groups!;
  const text = quote ? quote.slice(1, -1).trim() : all;
  const isAddress = isMailAddress(text);
  const isAlike = /\P{ASCII}/u.test(text) && (!isAddress || lookAlike(text) !== undefined);
  const range = { text, start, end: start + all.length };
  if (isAddress || address) return { kind: isAlike ? 'alike' : isAddress ? 'address' : 'word', ...range };
  if (word) return { kind: 'word', kinds: kindsOf(text), ...range };
  return { kind: quote && text ? 'quote' : line ? 'line' : 'sign', ...range };
}
