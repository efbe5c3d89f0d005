import { isBalanced, type Label, Marks, oneLine } from './marks.js';

type Role = 'to' | 'copy';
export const PART = 'A part of the text may not belong to it.';
/** Quotation marks that pair with no other: nobody can say where the quotation ends. */
const TORN = '"“”„«»‘‚';

/** The marked parts of a mail or a document, up to where the next move begins. */
export class Parts extends Marks {
  readonly to: string[] = [];
  readonly copy: string[] = [];
  /** Subject and text are empty where they are in doubt. */
  subject: string | undefined;
  body: string | undefined;
  isEach = false;
  /** A verb asks for a mail. */
  isAsked: boolean;
  /** What holds a word that the runner does not know. */
  readonly left: string[] = [];
  /** Why the text may not be what is meant. */
  readonly doubts: string[] = [];
  end: number;

  private readonly last: number;
  private readonly startsOther: ((at: number) => boolean) | undefined;
  /** Quotations without a label: where they stand. */
  readonly #quotes: number[] = [];
  /** Where the words since the last mark begin, and whether one of them is not known. */
  #from: number;
  #isUnknown = false;
  /** What the next address is, whether only known words lead to it, and whether "not" does. */
  #role: Role | undefined;
  #isLed = true;
  #isNegated = false;
  #isForbidden = false;
  #hasOther = false;

  /** @param startsOther whether a move begins here that is no mail; a document has none */
  constructor(marks: Marks, from: number, last: number, startsOther?: (at: number) => boolean) {
    super(marks);
    [this.last, this.startsOther] = [last, startsOther];
    [this.#from, this.end, this.isAsked] = [from, from, !startsOther];
    while (this.end < last && (this.end === from || !this.#isOver())) this.#readOne();
    this.#flush(this.end);
    this.#isForbidden ||= this.chain(from, 'other') !== undefined;
    const [only, ...others] = this.#quotes;
    if (this.body === undefined && others.length === 0 && only !== undefined) this.body = this.word(only);
    else this.left.push(...this.#quotes.map((at) => this.slice(at, at + 1)));
  }

  isMail(): boolean {
    const isTold = this.subject || (this.body && this.#quotes.length === 0);
    const isNamed = this.left.some((each) => each.includes('@')) && !this.isSign(this.end - 1, '?');
    return this.isAsked || this.to.length > 0 || (!this.#isForbidden && Boolean(isTold || isNamed));
  }

  /** Whether something else begins here: another move, or a mail with addresses of its own. */
  #isOver(): boolean {
    const at = this.end;
    if (this.isStart(at)) this.#mark(at);
    if (!this.startsOther) return false;
    const isFull = this.to.length > 0 && this.#hasText();
    const isQuote = this.kind(at) === 'quote' && !this.#isUnknown;
    if (isFull && isQuote && this.isAddress(this.past(at + 1))) return true;
    if (!this.isBoundary(at)) return false;
    const verb = this.verbAt(at);
    const next = this.past(verb ?? at);
    const isApart = isFull && this.#role === undefined && this.isAddressed(next);
    const isMore = verb === undefined ? isApart : this.to.length > 0;
    return (isMore && this.isAddress(next)) || this.startsOther(at);
  }

  #hasText = (): boolean => this.body !== undefined || this.#quotes.length > 0;

  #readOne(): void {
    const at = this.end;
    const label = this.labels.get(at);
    if (this.isBoundary(at)) this.isAsked ||= this.verbAt(at) !== undefined;
    if (label?.kind === (this.startsOther ? 'subject' : 'title')) this.#subject(label);
    else if (label?.kind === 'text') this.#label(label);
    else if (label?.kind === 'copy' && this.isAddress(this.past(label.next)) && !this.#isNegated)
      this.#mark(label.next, 'copy');
    else if (this.isAddress(at)) this.#address();
    else if (this.kind(at) === 'quote' && !this.isFiller(at)) {
      this.#quotes.push(at);
      this.#mark(at + 1);
    } else if (this.kind(at) === 'line') this.#line();
    else if (this.isColon(at)) this.#colon();
    else this.#word();
  }

  #word(): void {
    const at = this.end;
    const isKnown = this.isFiller(at) && !this.isOurs(at);
    const isVerb = this.is(at, 'mail', 'write') && !this.is(at - 1, 'my');
    const isAgain = this.is(at, 'to') && (this.is(at - 1, 'and') || this.isSign(at - 1, ','));
    const isLead = this.kind(at) === 'sign' || this.is(at, 'and') || this.isNamed(at);
    if (
      !isKnown ||
      isVerb ||
      (this.isAddress(this.#from - 1) && !isLead && !(isAgain && this.#role === 'to'))
    )
      this.#role = undefined;
    const isOpening = this.isSign(at, "'") && this.tokens[at + 1]?.start === this.tokens[at]!.end;
    if (isOpening || this.isSign(at, TORN)) this.body = '';
    this.#isLed = isVerb || (isKnown && this.#isLed);
    this.#isNegated = this.is(at, 'not') || (this.#isNegated && !this.isBoundary(at + 1));
    this.#isForbidden ||= this.isOurs(at);
    this.#isUnknown ||= !isKnown;
    this.isEach ||= this.is(at, 'each');
    this.end += 1;
  }

  /** Behind a mark new words begin. */
  #mark(at: number, role?: Role): void {
    this.#flush(this.end);
    [this.end, this.#from, this.#role, this.#isLed, this.#isNegated] = [at, at, role, true, false];
  }

  #flush(at: number): void {
    const said = this.slice(this.#from, at).replace(/^[\s,;.:–—-]+|[\s,;.:(–—-]+$/g, '');
    if (this.#isUnknown && said !== '') this.left.push(said);
    [this.#from, this.#isUnknown] = [at, false];
  }

  #address(): void {
    const at = this.end;
    const isMarked = this.isAsked || this.#hasText() || this.subject !== undefined;
    const isLed = this.#isLed || (isMarked && this.is(at - 1, 'to'));
    const isFirst = this.to.length === 0 && !this.#hasOther && isLed;
    const role = this.#role ?? (isFirst ? 'to' : undefined);
    if (role && !this.#isNegated && this.kind(at) === 'address') {
      this[role].push(this.word(at));
      return this.#mark(at + 1, role);
    }
    this.#isForbidden ||= this.#isNegated;
    this.#hasOther ||= !this.#isNegated;
    this.#word();
  }

  /** Below a subject, or below an empty line, the text begins. */
  #line(): void {
    const [at, next] = [this.end, this.past(this.end + 1)];
    const isBelow = this.subject !== undefined || this.word(at).split('\n').length > 2;
    const isText = isBelow && !this.isMark(next) && !this.#hasText() && this.to.length > 0;
    if (isText && at + 1 < this.last && !this.startsOther?.(at + 1)) this.#text(at + 1, true);
    else this.end += 1;
  }

  #colon(): void {
    const next = this.pastLine(this.end + 1);
    const isMarked = this.isAsked || this.to.length > 0 || this.subject !== undefined;
    const isDirect = !this.#isUnknown || (this.to.length === 0 && this.isAsked);
    const isList = this.startsOther && this.to.length === 0 && this.isAddress(this.past(next));
    const isMark = this.kind(next) === 'quote' || this.labels.has(this.past(next));
    if (isMarked && isDirect && !isList && !isMark && !this.#hasText() && next < this.last)
      this.#text(next, this.isCapital(next) || !this.is(next, 'link'));
    else this.end += 1;
  }

  #label({ next, isBare }: Label): void {
    const isQuote = this.kind(next) === 'quote';
    if (this.body !== undefined || next >= this.last) this.#word();
    else if (!isQuote) this.#text(next, this.isCapital(next) || (!isBare && !this.is(next, 'link')));
    else {
      this.body = this.word(next);
      this.#mark(next + 1);
    }
  }

  /** In quotation marks, or up to the next mark. */
  #subject({ next, isBare }: Label): void {
    const isQuoted = this.kind(next) === 'quote';
    const isReply = (at: number) => /^(?:re|fwd?|aw|wg)$/i.test(this.word(at - 1));
    const isColon = (at: number) =>
      (isBare || this.kind(at + 1) === 'quote' || this.isSign(at - 1, ')]')) && !isReply(at);
    const isWithin = (at: number) => this.kind(at) === 'quote' && !this.isSign(at - 1, ',;:–—-.([');
    const isEnd = (at: number) =>
      (at > next && this.isStart(at)) ||
      this.kind(at) === 'line' ||
      (this.isSign(at, ':') && isColon(at)) ||
      (this.isMark(at) && !isWithin(at));
    const end = isQuoted ? next + 1 : (this.find(next, this.last, isEnd) ?? this.last);
    const trimmed = this.#trimmed(next, end);
    const isSentence = this.isSign(trimmed - 1, '.') && !this.isAbbreviation(trimmed - 2);
    const stop = isSentence ? trimmed - 1 : trimmed;
    const said = oneLine(isQuoted ? this.word(next) : this.slice(next, stop));
    const isOwnLine = this.kind(this.end - 1) === 'line' || this.end === 0;
    const isJoint = (at: number) =>
      this.is(at, 'text') || (!isOwnLine && (this.isSign(at, ',') || this.is(at, 'and', 'condition')));
    const isLow = !this.isCapital(next) && (isBare || this.is(next, 'link') || this.#isDescribed(next));
    const isOpen = isLow || this.find(next, stop, isJoint) !== undefined || /["“”„«»]/.test(said);
    const isDoubtful = !isQuoted && (isOpen || this.is(stop - 1, 'polite'));
    if (said !== '') this.subject = isDoubtful || (this.subject ?? said) !== said ? '' : said;
    const isApart = this.#hasText() || (this.to.length === 0 && isLow);
    const isForBoth = isDoubtful && isApart && this.isSign(end, ':');
    const isTorn = (at: number) => this.kind(at) === 'quote' || this.isSign(at, TORN);
    if (!isQuoted && this.find(next, end, isTorn) !== undefined) this.body ??= '';
    this.#mark(isForBoth ? (this.find(end + 2, this.last, isEnd) ?? this.last) : end);
  }

  /** Without the words and signs that lead to the next mark. */
  #trimmed(from: number, to: number): number {
    const isCut = to < this.last && this.kind(to) !== 'line' && !this.isStart(to);
    const isJoint = (at: number) => isCut && this.word(at) !== 'A' && this.is(at, 'and', 'my', 'to', 'joint');
    const isLead = (at: number) =>
      this.kind(at) === 'line' ||
      this.isSign(at, ',;(–—-[') ||
      isJoint(at) ||
      (this.isSign(at, ')]') && !isBalanced(this.slice(from, at + 1)));
    let end = to;
    while (end > from && isLead(end - 1)) end -= 1;
    return end;
  }

  /** Without quotation marks it goes on to a label, or to a sentence of marks. */
  #text(from: number, isSure: boolean): void {
    if (this.isSign(from, TORN)) {
      this.end = from;
      return this.#word();
    }
    const isApart = (at: number) => this.isBoundary(at) || this.isSign(at - 1, '.!?()[-–—');
    const isEnd = (at: number) =>
      this.isStart(at) ? this.#resumes(at) : isApart(at) && this.labels.get(at)?.isEnd === true;
    const end = this.find(from + 1, this.last, isEnd) ?? this.last;
    const stop = this.#trimmed(from, end);
    this.body = this.slice(from, stop);
    const names = this.body.match(/\S+@\S+\p{L}/gu) ?? [];
    const isDoubt = (at: number) =>
      this.labels.has(at) || this.isSign(at, TORN) || (at > from && this.#isSaid(at));
    const isOpen =
      !isSure || this.#isDescribed(from) || !isBalanced(this.body) || /^["“„«‘(]|["“”„«»]$/.test(this.body);
    if (names.length > 0) this.doubts.push(`The text names ${names.join(', ')}.`);
    else if (isOpen || this.find(from, stop, isDoubt) !== undefined) this.doubts.push(PART);
    this.#mark(end);
  }

  /** "The usual", "tell her that ...": what is to be written, and not how. */
  #isDescribed = (at: number): boolean =>
    (this.is(at, 'mail') && this.is(at + 1, 'letter', 'condition', 'link')) ||
    [at, at + 1].some((each) => this.is(each, 'vague'));

  /** "Then call her." may be meant for the runner; "Please send us ..." is not. */
  #isSaid(at: number): boolean {
    if (!this.startsOther) return false;
    if (this.isSign(at - 1, '(')) return this.is(at, 'command');
    if (!this.isBoundary(at)) return this.is(at, 'mail') && this.is(at - 1, 'not');
    let verb = at;
    while (this.is(verb, 'polite') || (this.is(verb, 'and') && !this.is(verb, 'command'))) verb += 1;
    if (!this.isStart(at)) return this.is(verb, 'mail', 'write') && !this.isOurs(verb);
    return (this.is(verb, 'command') && !this.is(verb + 1, 'us')) || this.startsOther(at);
  }

  #resumes(at: number): boolean {
    const next = this.past(at);
    const label = this.labels.get(next);
    if (label) return label.isEnd || (label.kind !== 'text' && this.isCapital(label.next));
    const isHead = this.is(at, 'to') && this.isSign(at + 1, ':');
    const isOther = this.kind(at - 1) === 'line' && this.startsOther?.(at) === true;
    return isHead || isOther || this.isAddressed(next);
  }
}
