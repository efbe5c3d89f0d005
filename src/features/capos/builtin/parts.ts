import { type Label, type Marks, OF, oneLine } from './marks.js';

type Role = 'to' | 'copy' | 'blind';
const JOINT = /^(?:with|mit|avec|con|in|im|a|an|this|following|folgenden)$/;

/** The marked parts of a mail or a document, up to where the next move begins. */
export class Parts {
  readonly to: string[] = [];
  readonly copy: string[] = [];
  readonly blind: string[] = [];
  /** Of whom no address is given: "cc Sue". */
  readonly unknown: string[] = [];
  subject: string | undefined;
  body: string | undefined;
  isEach = false;
  /** A verb asks for a mail. */
  isAsked: boolean;
  /** What holds a word that the runner does not know. */
  readonly left: string[] = [];
  /** Why a value may not be what is meant. */
  readonly doubts: string[] = [];
  end: number;

  private readonly marks: Marks;
  private readonly last: number;
  private readonly startsOther: ((at: number) => boolean) | undefined;

  readonly #quotes: { text: string; said: string; isDirect: boolean }[] = [];
  /** Labels that stand behind their addresses. */
  readonly #read = new Set<number>();
  /** Where the words since the last mark begin, and whether one of them is not known. */
  #from: number;
  #isUnknown = false;
  /** What the next address is, if only fillers stand before it. */
  #role: Role | undefined;
  /** To whom it goes in words that are not known. */
  #addressee: string | undefined;
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
    this.#isTold = (this.subject ?? this.body) !== undefined;
    this.#isForbidden ||= marks.chain(from, 'other') !== undefined;
    const direct = this.#quotes.filter(({ isDirect }) => isDirect);
    const [only, ...others] = this.#quotes.length === 1 ? this.#quotes : direct;
    const text = this.body === undefined && others.length === 0 ? only : undefined;
    this.body ??= text?.text;
    this.left.push(...this.#quotes.filter((each) => each !== text).map(({ said }) => said));
    const isMarked = (this.subject ?? this.body) !== undefined;
    if (this.to.length === 0 && this.#addressee && isMarked) this.to.push(this.#addressee);
  }

  isMail(): boolean {
    const isNamed = this.left.some((each) => each.includes('@')) && !this.marks.isSign(this.end - 1, '?');
    return this.isAsked || this.to.length > 0 || (!this.#isForbidden && (this.#isTold || isNamed));
  }

  /** Whether something else begins here: another move, or a mail with addresses of its own. */
  #isOver(): boolean {
    const [marks, at] = [this.marks, this.end];
    if (marks.isStart(at)) {
      this.#flush(at);
      this.#role = undefined;
    }
    if (!this.startsOther) return false;
    const isFull = this.to.length > 0 && this.#hasText();
    const isQuote = marks.kind(at) === 'quote' && !this.#isUnknown;
    if (isFull && isQuote && marks.isAddress(marks.past(at + 1))) return true;
    if (!marks.isBoundary(at)) return false;
    const verb = marks.verbAt(at);
    const next = marks.past(verb ?? at);
    const isApart = isFull && this.#roleBefore() === undefined && this.#isAddressed(next);
    const isMore = verb === undefined ? isApart : isFull || this.to.length > 0;
    return (isMore && marks.isAddress(next) && !this.#roleBehind(next)) || this.startsOther(at);
  }

  #hasText = (): boolean => this.body !== undefined || this.#quotes.length > 0;
  /** The words before are known, or nobody is addressed but by them. */
  #isDirect = (): boolean => !this.#isUnknown || (this.to.length === 0 && this.isAsked);

  #readOne(): void {
    const [marks, at] = [this.marks, this.end];
    const label = marks.labels.get(at);
    const isNegated = this.#isNegated();
    if (marks.isBoundary(at)) this.isAsked ||= marks.verbAt(at) !== undefined;
    if (this.#read.has(at)) this.#mark(at + 1);
    else if (label?.kind === 'subject') this.#subject(label);
    else if (label?.kind === 'text') this.#label(label);
    else if (label && !isNegated) this.#copies(label.kind as Role, label.next);
    else if (marks.isAddress(at)) this.#address(isNegated);
    else if (marks.kind(at) === 'quote' && !marks.isFiller(at)) {
      this.#quotes.push({ text: marks.word(at), said: marks.slice(at, at + 1), isDirect: this.#isDirect() });
      this.#mark(at + 1);
    } else if (marks.kind(at) === 'line') this.#line();
    else if (marks.isColon(at)) this.#colon();
    else this.#word();
  }

  #word(): void {
    this.isEach ||= this.marks.is(this.end, 'each');
    const isOurs = this.marks.isOurs(this.end);
    this.#isForbidden ||= isOurs;
    this.#isUnknown ||= isOurs || !this.marks.isFiller(this.end);
    this.end += 1;
  }

  /** Behind a mark new words begin. */
  #mark(at: number, role?: Role): void {
    this.#flush(this.end);
    [this.end, this.#from, this.#role] = [at, at, role];
  }

  #flush(at: number): void {
    const said = this.marks.slice(this.#from, at).replace(/^[\s,;.:–—-]+|[\s,;.:(–—-]+$/g, '');
    if (this.#isUnknown && said !== '') this.left.push(said);
    if (this.#isUnknown) this.#role = undefined;
    [this.#from, this.#isUnknown] = [at, false];
  }

  /** "Don't ...", up to the next comma. */
  #isNegated(): boolean {
    const { marks, end } = this;
    const first = Math.max(this.#from, end - 12);
    let at = end - 1;
    while (at >= first && !marks.isBoundary(at + 1) && !marks.is(at, 'not')) at -= 1;
    return at >= first && marks.is(at, 'not');
  }

  #address(isNegated: boolean): void {
    const [marks, at] = [this.marks, this.end];
    const isMarked = this.isAsked || this.#hasText() || this.subject !== undefined;
    const isFirst =
      this.to.length === 0 && !this.#hasOther && (this.#isKnown() || (isMarked && this.#isBehindTo()));
    const role = this.#roleBehind(at) ?? this.#roleBefore() ?? (isFirst ? 'to' : undefined);
    if (role && !isNegated && marks.kind(at) === 'address') {
      this[role].push(marks.word(at));
      this.#mark(at + 1, role);
      return;
    }
    this.#isForbidden ||= isNegated;
    if (!isNegated && !this.#hasOther && marks.kind(at) === 'address' && this.#isBehindTo())
      this.#addressee ??= marks.word(at);
    this.#hasOther ||= !isNegated;
    this.#word();
  }

  /** That of the address or the label before, if the words between only lead on. */
  #roleBefore(): Role | undefined {
    const { marks } = this;
    const isBehindLabel = !marks.isAddress(this.#from - 1);
    const isAgain = (at: number) =>
      this.#role === 'to' && marks.is(at, 'to') && (marks.is(at - 1, 'and') || marks.isSign(at - 1, ','));
    const isLead = (at: number) =>
      marks.kind(at) === 'sign' || marks.is(at, 'and') || marks.isDescribed(at) || isAgain(at);
    const isOther = (at: number) => marks.is(at, 'mail', 'write') || !(isBehindLabel || isLead(at));
    return this.#isUnknown || marks.find(this.#from, this.end, isOther) !== undefined
      ? undefined
      : this.#role;
  }

  /** Whether all words since the verb are known. */
  #isKnown(): boolean {
    const { marks } = this;
    let at = this.end - 1;
    while (
      at >= this.#from &&
      marks.isFiller(at) &&
      !(marks.is(at, 'mail', 'write') && !marks.is(at - 1, 'my'))
    )
      at -= 1;
    return at < this.#from || marks.isFiller(at);
  }

  /** "to Jane Doe <...", "to Jane, that is ..." */
  #isBehindTo(): boolean {
    let at = this.end - 1;
    const isOther = () => this.marks.kind(at) !== 'word' && !this.marks.isSign(at, '(<.');
    while (at > this.end - 8 && !isOther() && !OF.test(this.marks.word(at)) && !this.marks.is(at, 'to'))
      at -= 1;
    return this.marks.is(at, 'to');
  }

  /** "... in copy", "... in bcc" */
  #roleBehind(address: number): Role | undefined {
    const { marks } = this;
    const first = this.#pastGroup(address);
    let at = first;
    while (/^(?:should|be|is|blind)$/i.test(marks.word(at))) at += 1;
    const isForward = marks.is(at + 2, 'to') || marks.isAddress(marks.isSign(at + 2, ':') ? at + 3 : at + 2);
    if (!/^(?:in|en)$/i.test(marks.word(at)) || isForward || !marks.is(at + 1, 'copy', 'blind'))
      return undefined;
    const words = [at - 1, at + 1, at + 2].filter((each) => marks.is(each, 'copy', 'blind'));
    for (let each = first; each <= words.at(-1)!; each += 1) this.#read.add(each);
    return words.some((each) => marks.is(each, 'blind')) ? 'blind' : 'copy';
  }

  #pastGroup(address: number): number {
    const { marks } = this;
    let at = address + 1;
    while (at < address + 300 && (marks.isSign(at, ',)>') || marks.is(at, 'and') || marks.isAddress(at)))
      at += 1;
    return at;
  }

  /** An address with a label, a colon or a quotation behind it. */
  #isAddressed(address: number): boolean {
    const { marks } = this;
    const behind = marks.past(this.#pastGroup(address));
    return (
      marks.isAddress(address) &&
      (marks.labels.has(behind) || marks.isSign(behind, ':') || marks.kind(behind) === 'quote')
    );
  }

  #copies(role: Role, from: number): void {
    const { marks } = this;
    const isEnd = (at: number) => marks.labels.has(at) || marks.isSign(at, ',;.:');
    const next = marks.past(from, isEnd);
    if (marks.isAddress(next)) return this.#mark(from, role);
    const isName = (at: number) => marks.kind(at) === 'word' && !marks.labels.has(at) && !marks.is(at, 'and');
    const end = marks.find(next, this.last, (at) => !isName(at)) ?? this.last;
    if (end > from) this.unknown.push(marks.slice(from, end));
    this.#mark(Math.max(end, from));
  }

  /** Below a subject, or below an empty line, the text begins. */
  #line(): void {
    const [marks, at] = [this.marks, this.end];
    const next = marks.past(at + 1);
    const isBelow = this.subject !== undefined || marks.tokens[at]!.text.split('\n').length > 2;
    const isMark = marks.labels.has(next) || marks.isAddress(next) || marks.kind(next) === 'quote';
    const isText =
      isBelow && !isMark && !this.#hasText() && this.to.length > 0 && !this.startsOther?.(at + 1);
    if (isText && at + 1 < this.last) this.#text(at + 1, true);
    else this.end += 1;
  }

  #colon(): void {
    const { marks } = this;
    const next = marks.pastLine(this.end + 1);
    const isMarked = this.isAsked || this.to.length > 0 || this.subject !== undefined;
    const isList = this.startsOther && this.to.length === 0 && marks.isAddress(marks.past(next));
    const isText = isMarked && this.#isDirect() && !isList && !this.#hasText() && next < this.last;
    const mark = marks.past(next);
    const label = mark > next && marks.isStart(mark) ? undefined : marks.labels.get(mark);
    const isMark = label !== undefined && (label.isSure || label.kind !== 'text');
    if (isText && !isMark && marks.kind(next) !== 'quote')
      this.#text(next, !marks.is(next, 'link') || marks.isCapital(next) || marks.is(next, 'polite'));
    else this.end = isText ? next : this.end + 1;
  }

  #label({ next, isSure, isBare }: Label): void {
    const { marks } = this;
    const isText = isSure || marks.isCapital(next) || this.subject !== undefined;
    if (this.body !== undefined || !isText || next >= this.last) this.#word();
    else if (marks.kind(next) === 'quote') {
      this.body = marks.word(next);
      this.#mark(next + 1);
    } else this.#text(next, marks.isCapital(next) || (!isBare && !marks.is(next, 'link')));
  }

  /** In quotation marks, or up to the next mark. */
  #subject({ next, isBare }: Label): void {
    const { marks, last } = this;
    const isOwnLine = this.end === 0 || marks.kind(this.end - 1) === 'line';
    const isApart = (at: number) => at === next || marks.isSign(at - 1, ',;–—-.') || marks.isStart(at);
    const isClosing = (at: number) => this.#closes(next, at, false);
    const isColon = (at: number) =>
      isBare && marks.isSign(at, ':') && !/^(?:re|fwd?|aw|wg)$/i.test(marks.word(at - 1));
    const isMark = (at: number) =>
      (marks.kind(at) === 'quote' && (isBare || isApart(at))) ||
      marks.labels.has(at) ||
      marks.isAddress(at) ||
      marks.kind(at) === 'line' ||
      isClosing(at) ||
      isColon(at) ||
      (at > next && marks.isStart(at));
    const end = marks.find(next, last, isMark) ?? last;
    const isQuoted = marks.kind(end) === 'quote' && (end === next || !isApart(end));
    if (isQuoted && end > next) this.left.push(marks.slice(next, end));
    const trimmed = this.#trimmed(next, end);
    const isSentence = marks.isSign(trimmed - 1, '.') && !marks.isAbbreviation(trimmed - 2);
    const stop = isSentence ? trimmed - 1 : trimmed;
    const said = oneLine(isQuoted ? marks.word(end) : marks.slice(next, stop));
    const isJoint = (at: number) => marks.isSign(at, ',') || marks.is(at, 'and', 'condition');
    const isLong = !isOwnLine && marks.find(next, stop, isJoint) !== undefined;
    const isLow = !marks.isCapital(next) && (isBare || marks.is(next, 'link'));
    const isOpen = isLow || isLong || marks.is(stop - 1, 'polite') || /["“”„«»]/.test(said);
    if (!isQuoted && isOpen) this.doubts.push(`Is “${said}” the subject?`);
    if (said !== '' && (this.subject ?? said) !== said) this.left.push(said);
    else if (said !== '') this.subject = said;
    this.#mark(isQuoted ? end + 1 : end);
  }

  /** Without the words and signs that lead to the next mark. */
  #trimmed(from: number, to: number): number {
    const { marks } = this;
    const isCut = to < this.last && marks.kind(to) !== 'line' && !marks.isStart(to);
    const isJoint = (at: number) =>
      isCut && marks.word(at) !== 'A' && (marks.is(at, 'and', 'my', 'to') || JOINT.test(marks.word(at)));
    let end = to;
    while (
      end > from &&
      (marks.kind(end - 1) === 'line' || marks.isSign(end - 1, ',;(–—-[') || isJoint(end - 1))
    )
      end -= 1;
    return end;
  }

  /** Whether the bracket was open before. A smiley is none, nor is "1)" in a text. */
  #closes(from: number, at: number, isText: boolean): boolean {
    const { marks } = this;
    const countOf = (signs: RegExp) => marks.slice(from, at).match(signs)?.length ?? 0;
    const isNumber =
      isText && !marks.isSign(this.end - 1, '([') && /^(?:\d{1,2}|\p{L})$/u.test(marks.word(at - 1));
    const isAlone = isNumber || marks.isSign(at - 1, ':;=-');
    return marks.isSign(at, ')]') && !isAlone && countOf(/[([]/g) <= countOf(/[)\]]/g);
  }

  /** Without quotation marks it goes on to a label, or to a sentence of marks. */
  #text(from: number, isSure: boolean): void {
    const { marks, last } = this;
    const isApart = (at: number) =>
      marks.isSign(at - 1, ',;.!?()[-–—') || marks.is(at - 1, 'and') || marks.isStart(at);
    const isLabel = (at: number) =>
      marks.labels.get(at)?.isSure === true && marks.labels.get(at)!.kind !== 'text';
    const isPart = (at: number) =>
      this.#closes(from, at, true) ||
      (isLabel(at) && isApart(at)) ||
      (marks.isStart(at) && this.#resumes(at));
    const end = marks.find(from + 1, last, isPart) ?? last;
    const stop = this.#trimmed(from, end);
    this.body = marks.slice(from, stop);
    const names = this.body.match(/\S+@\S+\p{L}/gu) ?? [];
    const isOpen = (at: number) =>
      marks.labels.has(at) && (marks.labels.get(at)!.isSure || marks.labels.get(at)!.kind !== 'text');
    const isTaken = (at: number) =>
      (marks.isSign(at, ':') && (marks.is(at - 1, 'mail', 'write') || marks.is(at - 2, 'mail', 'write'))) ||
      (marks.is(at, 'mail') && marks.is(at - 1, 'not'));
    const isSaid = (at: number) =>
      this.startsOther !== undefined &&
      at > from &&
      (isTaken(at) ||
        (marks.isStart(at)
          ? this.#isCommand(at) || this.startsOther(at)
          : marks.isBoundary(at) && marks.is(at, 'mail') && !marks.isOurs(at)));
    const isDoubtful =
      !isSure ||
      /^["“„«‘(]|["“”„«»]$/.test(this.body) ||
      marks.find(from, stop, (at) => isOpen(at) || isSaid(at)) !== undefined;
    if (names.length > 0) this.doubts.push(`The text names ${names.join(', ')}.`);
    else if (isDoubtful) this.doubts.push('A part of the text may not belong to it.');
    this.#mark(end);
  }

  /** "Then call her." may be meant for the runner; "Please send us ..." is not. */
  #isCommand(at: number): boolean {
    const { marks } = this;
    let verb = at;
    while (marks.is(verb, 'polite') || (marks.is(verb, 'and') && !marks.is(verb, 'command'))) verb += 1;
    return marks.is(verb, 'command') && !marks.is(verb + 1, 'us');
  }

  #resumes(at: number): boolean {
    const { marks } = this;
    const next = marks.past(at);
    const label = marks.labels.get(next);
    if (label) return label.kind !== 'text' && (label.isSure || marks.isCapital(label.next));
    if (marks.is(at, 'to') && marks.isSign(at + 1, ':')) return true;
    if (marks.kind(at - 1) === 'line' && this.startsOther?.(at)) return true;
    return marks.isAddress(next) && (this.#isAddressed(next) || this.#roleBehind(next) !== undefined);
  }
}
