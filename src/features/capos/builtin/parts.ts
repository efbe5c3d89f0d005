import { isBalanced, type Label, type Marks, oneLine } from './marks.js';

type Role = 'to' | 'copy';
/** Quotation marks that pair with no other: nobody can say where the quotation ends. */
const TORN = '"“”„«»‘‚';
const JOINT = /^(?:with|mit|avec|con|in|im|a|an|this|following|folgenden)$/;

/** The marked parts of a mail or a document, up to where the next move begins. */
export class Parts {
  readonly to: string[] = [];
  readonly copy: string[] = [];
  /** Subject and text are empty where they are in doubt. */
  subject: string | undefined;
  body: string | undefined;
  /** What may be the subject. */
  said = '';
  isEach = false;
  /** A verb asks for a mail. */
  isAsked: boolean;
  /** What holds a word that the runner does not know. */
  readonly left: string[] = [];
  /** Why the text may not be what is meant. */
  readonly doubts: string[] = [];
  end: number;

  private readonly marks: Marks;
  private readonly last: number;
  private readonly startsOther: ((at: number) => boolean) | undefined;
  /** Without a label: where they stand. */
  readonly #quotes: number[] = [];
  /** Where the words since the last mark begin, and whether one of them is not known. */
  #from: number;
  #isUnknown = false;
  /** What the next address is, whether only known words lead to it, and whether "not" does. */
  #role: Role | undefined;
  #isLed = true;
  #isNegated = false;
  #isForbidden = false;
  /** A label gives a subject or a text. */
  #isTold = false;
  #hasOther = false;

  /** @param startsOther whether a move begins here that is no mail; a document has none */
  constructor(marks: Marks, from: number, last: number, startsOther?: (at: number) => boolean) {
    [this.marks, this.last, this.startsOther] = [marks, last, startsOther];
    [this.#from, this.end, this.isAsked] = [from, from, !startsOther];
    while (this.end < last && (this.end === from || !this.#isOver())) this.#readOne();
    this.#flush(this.end);
    this.#isForbidden ||= marks.chain(from, 'other') !== undefined;
    this.#isTold = Boolean(this.subject || this.body);
    const [only, ...others] = this.#quotes;
    if (this.body === undefined && others.length === 0 && only !== undefined) this.body = marks.word(only);
    else this.left.push(...this.#quotes.map((at) => marks.slice(at, at + 1)));
  }

  isMail(): boolean {
    const isNamed = this.left.some((each) => each.includes('@')) && !this.marks.isSign(this.end - 1, '?');
    return this.isAsked || this.to.length > 0 || (!this.#isForbidden && (this.#isTold || isNamed));
  }

  /** Whether something else begins here: another move, or a mail with addresses of its own. */
  #isOver(): boolean {
    const [marks, at] = [this.marks, this.end];
    if (marks.isStart(at)) this.#mark(at);
    if (!this.startsOther) return false;
    const isFull = this.to.length > 0 && this.#hasText();
    const isQuote = marks.kind(at) === 'quote' && !this.#isUnknown;
    if (isFull && isQuote && marks.isAddress(marks.past(at + 1))) return true;
    if (!marks.isBoundary(at)) return false;
    const verb = marks.verbAt(at);
    const next = marks.past(verb ?? at);
    const isApart = isFull && this.#role === undefined && this.#isAddressed(next);
    const isMore = verb === undefined ? isApart : this.to.length > 0;
    return (isMore && marks.isAddress(next)) || this.startsOther(at);
  }

  #hasText = (): boolean => this.body !== undefined || this.#quotes.length > 0;

  #readOne(): void {
    const [marks, at] = [this.marks, this.end];
    const label = marks.labels.get(at);
    if (marks.isBoundary(at)) this.isAsked ||= marks.verbAt(at) !== undefined;
    if (label?.kind === (this.startsOther ? 'subject' : 'title')) this.#subject(label);
    else if (label?.kind === 'text') this.#label(label);
    else if (label?.kind === 'copy' && marks.isAddress(marks.past(label.next)) && !this.#isNegated)
      this.#mark(label.next, 'copy');
    else if (marks.isAddress(at)) this.#address();
    else if (marks.kind(at) === 'quote' && !marks.isFiller(at)) {
      this.#quotes.push(at);
      this.#mark(at + 1);
    } else if (marks.kind(at) === 'line') this.#line();
    else if (marks.isColon(at)) this.#colon();
    else this.#word();
  }

  #word(): void {
    const [marks, at] = [this.marks, this.end];
    const isKnown = marks.isFiller(at) && !marks.isOurs(at);
    const isVerb = marks.is(at, 'mail', 'write') && !marks.is(at - 1, 'my');
    const isAgain = marks.is(at, 'to') && (marks.is(at - 1, 'and') || marks.isSign(at - 1, ','));
    const isLead = marks.kind(at) === 'sign' || marks.is(at, 'and') || marks.isDescribed(at);
    const isBehindLabel = !marks.isAddress(this.#from - 1);
    if (!isKnown || isVerb || !(isBehindLabel || isLead || (isAgain && this.#role === 'to')))
      this.#role = undefined;
    if (marks.isSign(at, TORN)) this.body = '';
    this.#isLed = isVerb || (isKnown && this.#isLed);
    this.#isNegated = marks.is(at, 'not') || (this.#isNegated && !marks.isBoundary(at + 1));
    this.#isForbidden ||= marks.isOurs(at);
    this.#isUnknown ||= !isKnown;
    this.isEach ||= marks.is(at, 'each');
    this.end += 1;
  }

  /** Behind a mark new words begin. */
  #mark(at: number, role?: Role): void {
    this.#flush(this.end);
    [this.end, this.#from, this.#role, this.#isLed, this.#isNegated] = [at, at, role, true, false];
  }

  #flush(at: number): void {
    const said = this.marks.slice(this.#from, at).replace(/^[\s,;.:–—-]+|[\s,;.:(–—-]+$/g, '');
    if (this.#isUnknown && said !== '') this.left.push(said);
    [this.#from, this.#isUnknown] = [at, false];
  }

  #address(): void {
    const [marks, at] = [this.marks, this.end];
    let before = at - 1;
    while (marks.isDescribed(before) || marks.isSign(before, '(<')) before -= 1;
    const isMarked = this.isAsked || this.#hasText() || this.subject !== undefined;
    const isLed = this.#isLed || (isMarked && marks.is(before, 'to'));
    const isFirst = this.to.length === 0 && !this.#hasOther && isLed;
    const role = this.#role ?? (isFirst ? 'to' : undefined);
    if (role && !this.#isNegated && marks.kind(at) === 'address') {
      this[role].push(marks.word(at));
      return this.#mark(at + 1, role);
    }
    this.#isForbidden ||= this.#isNegated;
    this.#hasOther ||= !this.#isNegated;
    this.#word();
  }

  /** An address with a label, a colon or a quotation behind it. */
  #isAddressed(address: number): boolean {
    const { marks } = this;
    const isOther = (at: number) => !(marks.isSign(at, ',)>') || marks.is(at, 'and') || marks.isAddress(at));
    const behind = marks.past(marks.find(address + 1, address + 300, isOther) ?? address);
    const isPart = ['subject', 'text'].includes(marks.labels.get(behind)?.kind ?? '');
    const isMark = isPart || marks.isSign(behind, ':') || marks.kind(behind) === 'quote';
    return marks.isAddress(address) && isMark;
  }

  /** Below a subject, or below an empty line, the text begins. */
  #line(): void {
    const [marks, at] = [this.marks, this.end];
    const next = marks.past(at + 1);
    const isBelow = this.subject !== undefined || marks.word(at).split('\n').length > 2;
    const isMark = marks.labels.has(next) || marks.isAddress(next) || marks.kind(next) === 'quote';
    const isText = isBelow && !isMark && !this.#hasText() && this.to.length > 0;
    if (isText && at + 1 < this.last && !this.startsOther?.(at + 1)) this.#text(at + 1, true);
    else this.end += 1;
  }

  #colon(): void {
    const { marks } = this;
    const next = marks.pastLine(this.end + 1);
    const isMarked = this.isAsked || this.to.length > 0 || this.subject !== undefined;
    const isDirect = !this.#isUnknown || (this.to.length === 0 && this.isAsked);
    const isList = this.startsOther && this.to.length === 0 && marks.isAddress(marks.past(next));
    const isMark = marks.kind(next) === 'quote' || marks.labels.has(marks.past(next));
    if (isMarked && isDirect && !isList && !isMark && !this.#hasText() && next < this.last)
      this.#text(next, !marks.is(next, 'link') || marks.isCapital(next) || marks.is(next, 'polite'));
    else this.end += 1;
  }

  #label({ next, isBare }: Label): void {
    const { marks } = this;
    if (this.body !== undefined || next >= this.last) this.#word();
    else if (marks.kind(next) === 'quote') {
      this.body = marks.word(next);
      this.#mark(next + 1);
    } else this.#text(next, marks.isCapital(next) || (!isBare && !marks.is(next, 'link')));
  }

  /** In quotation marks, or up to the next mark. */
  #subject({ next, isBare }: Label): void {
    const { marks, last } = this;
    const isQuote = (at: number) => marks.kind(at) === 'quote';
    const isColon = (at: number) =>
      marks.isSign(at, ':') &&
      (isBare || isQuote(at + 1) || marks.isSign(at - 1, ')]')) &&
      !/^(?:re|fwd?|aw|wg)$/i.test(marks.word(at - 1));
    const isEnd = (at: number) =>
      isQuote(at) || marks.labels.has(at) || marks.isAddress(at) || marks.kind(at) === 'line' || isColon(at);
    const end = marks.find(next, last, (at) => isEnd(at) || (at > next && marks.isStart(at))) ?? last;
    const trimmed = this.#trimmed(next, end);
    const isSentence = marks.isSign(trimmed - 1, '.') && !marks.isAbbreviation(trimmed - 2);
    const stop = isSentence ? trimmed - 1 : trimmed;
    const said = oneLine(isQuote(next) ? marks.word(next) : marks.slice(next, stop));
    const isJoint = (at: number) => marks.isSign(at, ',') || marks.is(at, 'and', 'condition');
    const isOwnLine = this.end === 0 || marks.kind(this.end - 1) === 'line';
    const isLong = !isOwnLine && marks.find(next, stop, isJoint) !== undefined;
    const isLow = !marks.isCapital(next) && (isBare || marks.is(next, 'link'));
    const isWithin = isQuote(end) && end > next && !marks.isSign(end - 1, ',;–—-.') && !marks.isStart(end);
    const isOpen = isLow || isLong || isWithin || marks.is(stop - 1, 'polite') || /["“”„«»]/.test(said);
    const isDoubtful = (!isQuote(next) && isOpen) || (this.subject ?? said) !== said;
    const isForBoth = isDoubtful && marks.isSign(end, ':') && this.#hasText();
    const behind = isForBoth ? marks.sentenceEnd(end) : isQuote(next) || isWithin ? end + 1 : end;
    if (isDoubtful) this.said = oneLine(marks.slice(next, behind));
    if (said !== '') this.subject = isDoubtful ? '' : said;
    this.#mark(behind);
  }

  /** Without the words and signs that lead to the next mark. */
  #trimmed(from: number, to: number): number {
    const { marks } = this;
    const isCut = to < this.last && marks.kind(to) !== 'line' && !marks.isStart(to);
    const isJoint = (at: number) =>
      isCut && marks.word(at) !== 'A' && (marks.is(at, 'and', 'my', 'to') || JOINT.test(marks.word(at)));
    const isLead = (at: number) =>
      marks.kind(at) === 'line' ||
      marks.isSign(at, ',;(–—-[') ||
      isJoint(at) ||
      (marks.isSign(at, ')]') && !isBalanced(marks.slice(from, at + 1)));
    let end = to;
    while (end > from && isLead(end - 1)) end -= 1;
    return end;
  }

  /** Without quotation marks it goes on to a label, or to a sentence of marks. */
  #text(from: number, isSure: boolean): void {
    const { marks, last } = this;
    if (marks.isSign(from, TORN)) {
      this.end = from;
      return this.#word();
    }
    const isApart = (at: number) => marks.isBoundary(at) || marks.isSign(at - 1, '.!?()[-–—');
    const isEnd = (at: number) =>
      marks.isStart(at) ? this.#resumes(at) : isApart(at) && marks.labels.get(at)?.isEnd === true;
    const end = marks.find(from + 1, last, isEnd) ?? last;
    const stop = this.#trimmed(from, end);
    this.body = marks.slice(from, stop);
    const names = this.body.match(/\S+@\S+\p{L}/gu) ?? [];
    const isDoubt = (at: number) =>
      marks.labels.has(at) || marks.isSign(at, TORN) || (at > from && this.#isSaid(at));
    const isOpen = !isSure || !isBalanced(this.body) || /^["“„«‘(]|["“”„«»]$/.test(this.body);
    if (names.length > 0) this.doubts.push(`The text names ${names.join(', ')}.`);
    else if (isOpen || marks.find(from, stop, isDoubt) !== undefined)
      this.doubts.push('A part of the text may not belong to it.');
    this.#mark(end);
  }

  /** "Then call her." may be meant for the runner; "Please send us ..." is not. */
  #isSaid(at: number): boolean {
    const { marks, startsOther } = this;
    if (!startsOther) return false;
    if (!marks.isBoundary(at)) return marks.is(at, 'mail') && marks.is(at - 1, 'not');
    let verb = at;
    while (marks.is(verb, 'polite') || (marks.is(verb, 'and') && !marks.is(verb, 'command'))) verb += 1;
    if (!marks.isStart(at)) return marks.is(verb, 'mail', 'write') && !marks.isOurs(verb);
    return (marks.is(verb, 'command') && !marks.is(verb + 1, 'us')) || startsOther(at);
  }

  #resumes(at: number): boolean {
    const { marks } = this;
    const next = marks.past(at);
    const label = marks.labels.get(next);
    if (label) return label.isEnd || (label.kind !== 'text' && marks.isCapital(label.next));
    if (marks.is(at, 'to') && marks.isSign(at + 1, ':')) return true;
    return (marks.kind(at - 1) === 'line' && this.startsOther?.(at)) || this.#isAddressed(next);
  }
}
