import { isBalanced, type Label, type Marks, oneLine } from './marks.js';

export type Parts = ReturnType<typeof partsOf>;
export const PART = 'A part of the text may not belong to it.';

/**
 * The marked parts of a mail, up to where the next move begins. Subject and body are empty where they are in doubt.
 * @param startsOther whether a move begins here that is no mail
 */
export function partsOf(marks: Marks, from: number, last: number, startsOther: (at: number) => boolean) {
  const to: string[] = [];
  const copy: string[] = [];
  /** What holds a word that the runner does not know. */
  const left: string[] = [];
  /** Why the text may not be what is meant. */
  const doubts: string[] = [];
  /** Quotations without a label: where they stand. */
  const quotes: number[] = [];
  let subject: string | undefined;
  let body: string | undefined;
  /** Whether a verb asks for a mail, for one to each, or for something else. */
  let [isAsked, isEach, isForbidden] = [false, false, marks.chain(from, 'other') !== undefined];
  /** The words since the last mark: where they begin, and whether one is not known. */
  let [begin, isUnknown] = [from, false];
  /** What the next address is, whether only known words lead to it, and whether "not" does. */
  let role: string[] | undefined;
  let [isLed, isNegated] = [true, false];
  let at = from;

  const hasText = () => body !== undefined || quotes.length > 0;
  while (at < last && (at === from || !isOver())) readOne();
  mark(at);
  if (body === undefined && quotes.length === 1) body = marks.word(quotes[0]!);
  else left.push(...quotes.map((quote) => marks.slice(quote, quote + 1)));
  const isTold = subject || (body && quotes.length === 0);
  const isNamed = left.some((each) => each.includes('@')) && !marks.isSign(at - 1, '?');
  const isMail = isAsked || to.length > 0 || (!isForbidden && Boolean(isTold || isNamed));
  return { to, copy, subject, body, isEach, isMail, left, doubts, end: at };

  /** Whether something else begins here: another move, or a mail with addresses of its own. */
  function isOver(): boolean {
    if (marks.isStart(at)) mark(at);
    if (!marks.isBoundary(at)) return false;
    const verb = marks.verbAt(at);
    const next = marks.past(verb ?? at);
    const isMore = verb === undefined ? role === undefined && marks.isTold(next) : marks.isAddress(next);
    return (isMore && to.length > 0) || startsOther(at);
  }

  function readOne(): void {
    const label = marks.labels.get(at);
    const next = marks.pastLine(at + 1);
    if (marks.isBoundary(at)) isAsked ||= marks.verbAt(at) !== undefined;
    if (label?.kind === 'subject') readSubject(label);
    else if (label?.kind === 'text' && body === undefined && label.next < last) readText(label);
    else if (label?.kind === 'copy' && marks.isAddress(marks.past(label.next)) && !isNegated)
      mark(label.next, copy);
    else if (marks.isAddress(at)) readAddress();
    else if (marks.kind(at) === 'quote' && !marks.isFiller(at)) {
      quotes.push(at);
      mark(at + 1);
    } else if (isTextAt(next)) readText({ next, isBare: false });
    else if (marks.kind(at) === 'line') at += 1;
    else readWord();
  }

  function readWord(): void {
    const isKnown = marks.isFiller(at) && !marks.isOurs(at);
    const isVerb = marks.is(at, 'mail', 'write') && !marks.is(at - 1, 'my');
    const isAgain = marks.is(at, 'to') && (marks.is(at - 1, 'and') || marks.isSign(at - 1, ','));
    const isLead = marks.kind(at) === 'sign' || marks.is(at, 'and') || marks.isNamed(at);
    const isBehind = marks.isAddress(begin - 1) && !isLead && !(isAgain && role === to);
    if (!isKnown || isVerb || isBehind) role = undefined;
    const isOpening = marks.isSign(at, "'") && marks.tokens[at + 1]?.start === marks.tokens[at]!.end;
    if (isOpening || marks.isTorn(at)) body = '';
    isLed = isVerb || (isKnown && isLed);
    isNegated = marks.is(at, 'not', 'blind') || (isNegated && !marks.isBoundary(at + 1));
    isForbidden ||= marks.isOurs(at) || marks.is(at, 'not');
    isUnknown ||= !isKnown;
    isEach ||= marks.is(at, 'each');
    at += 1;
  }

  /** Behind a mark new words begin. */
  function mark(next: number, nextRole?: string[]): void {
    const said = marks.slice(begin, at).replace(/^[\s,;.:–—-]+|[\s,;.:(–—-]+$/g, '');
    if (isUnknown && said !== '') left.push(said);
    [at, begin, isUnknown, role, isLed, isNegated] = [next, next, false, nextRole, true, false];
  }

  function readAddress(): void {
    const isMarked = isAsked || hasText() || subject !== undefined;
    const isFirst = to.length === 0 && (isLed || (isMarked && marks.is(at - 1, 'to')));
    const people = role ?? (isFirst ? to : undefined);
    if (people && !isNegated && marks.kind(at) === 'address') {
      people.push(marks.word(at));
      return mark(at + 1, people);
    }
    readWord();
  }

  /** Below a subject or an empty line, or behind a colon, the text begins. */
  function isTextAt(next: number): boolean {
    const isBelow = subject !== undefined || marks.word(at).split('\n').length > 2;
    const isDirect = (isAsked || to.length > 0) && (!isUnknown || to.length === 0);
    const isHead = marks.kind(at) === 'line' && isBelow && to.length > 0 && !startsOther(next);
    const isMarked = isHead || (marks.isColon(at) && isDirect);
    return isMarked && !hasText() && next < last && !marks.isMark(marks.past(next));
  }

  function readSubject({ next, isBare }: Label): void {
    const isQuoted = marks.kind(next) === 'quote';
    const isReply = (each: number) => /^(?:re|fwd?|aw|wg)$/i.test(marks.word(each - 1));
    const isColon = (each: number) =>
      (isBare || marks.kind(each + 1) === 'quote' || marks.isSign(each - 1, ')]')) && !isReply(each);
    const isWithin = (each: number) => marks.kind(each) === 'quote' && !marks.isSign(each - 1, ',;:–—-.([');
    const isEnd = (each: number) =>
      (each > next && marks.isStart(each)) ||
      marks.kind(each) === 'line' ||
      (marks.isSign(each, ':') && isColon(each)) ||
      (marks.isMark(each) && !isWithin(each));
    const end = isQuoted ? next + 1 : (marks.find(next, last, isEnd) ?? last);
    const trimmed = trimmedEnd(next, end);
    const isSentence = marks.isSign(trimmed - 1, '.') && !marks.isAbbreviation(trimmed - 2);
    const stop = isSentence ? trimmed - 1 : trimmed;
    const said = oneLine(isQuoted ? marks.word(next) : marks.slice(next, stop));
    const isOwnLine = marks.kind(at - 1) === 'line' || at === 0;
    const isJoint = (each: number) =>
      marks.is(each, 'text') ||
      (!isOwnLine && (marks.isSign(each, ',') || marks.is(each, 'and', 'condition')));
    const isLow = !marks.isCapital(next) && (isBare || marks.is(next, 'link') || isDescribed(next));
    const isQuote = (each: number) => marks.kind(each) === 'quote' || marks.isTorn(each);
    const isTorn = !isQuoted && marks.find(next, end, isQuote) !== undefined;
    const isOpen = isLow || isTorn || marks.find(next, stop, isJoint) !== undefined;
    const isDoubtful = !isQuoted && (isOpen || marks.is(stop - 1, 'polite'));
    if (said !== '') subject = isDoubtful || (subject ?? said) !== said ? '' : said;
    if (isTorn) body ??= '';
    const isForBoth = isDoubtful && (hasText() || to.length === 0) && marks.isSign(end, ':');
    mark(isForBoth ? (marks.find(end + 2, last, isEnd) ?? last) : end);
  }

  /** Without the words and signs that lead to the next mark. */
  function trimmedEnd(start: number, stop: number): number {
    const isCut = stop < last && marks.kind(stop) !== 'line' && !marks.isStart(stop);
    const isLead = (each: number) =>
      marks.kind(each) === 'line' ||
      marks.isSign(each, ',;(–—-[') ||
      (isCut && marks.word(each) !== 'A' && marks.is(each, 'and', 'my', 'to', 'joint')) ||
      (marks.isSign(each, ')]') && !isBalanced(marks.slice(start, each + 1)));
    let end = stop;
    while (end > start && isLead(end - 1)) end -= 1;
    return end;
  }

  /** In quotation marks, or up to a label or a sentence of marks. */
  function readText({ next, isBare }: Pick<Label, 'next' | 'isBare'>): void {
    if (marks.kind(next) === 'quote') {
      body = marks.word(next);
      return mark(next + 1);
    }
    const isApart = (each: number) => marks.isBoundary(each) || marks.isSign(each - 1, '.!?()[-–—');
    const isEnd = (each: number) =>
      marks.isStart(each) ? resumes(each) : isApart(each) && marks.labels.get(each)?.isEnd;
    const end = marks.find(next + 1, last, isEnd) ?? last;
    const stop = trimmedEnd(next, end);
    const said = marks.slice(next, stop);
    const isMore = (each: number) => marks.isCommand(each) || (marks.isStart(each) && startsOther(each));
    const isDoubt = (each: number) => marks.isLoose(each) || (each > next && isMore(each));
    const isSure = marks.isCapital(next) || (!isBare && !marks.is(next, 'link'));
    const isOpen = !isSure || isDescribed(next) || !isBalanced(said) || /^["“„«‘(]|["“”„«»]$/.test(said);
    if (isOpen || marks.find(next, stop, isDoubt) !== undefined) doubts.push(PART);
    body = marks.isTorn(next) ? '' : said;
    mark(end);
  }

  /** "The usual", "tell her that ...": what is to be written, and not how. */
  function isDescribed(start: number): boolean {
    const isSpoken = marks.is(start, 'mail') && marks.is(start + 1, 'letter', 'condition', 'link');
    return isSpoken || marks.is(start, 'vague') || marks.is(start + 1, 'vague');
  }

  function resumes(start: number): boolean {
    const led = marks.past(start);
    const next = marks.find(start, led, (each) => marks.kind(each) === 'sign') === undefined ? led : start;
    const label = marks.labels.get(next);
    if (label) return label.isEnd || (label.kind !== 'text' && marks.isCapital(label.next));
    const isHead = marks.is(start, 'to') && marks.isSign(start + 1, ':');
    return isHead || marks.isTold(next) || (marks.kind(start - 1) === 'line' && startsOther(start));
  }
}
