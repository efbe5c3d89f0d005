import { oneLine } from '../capos/builtin/text.js';
import { PLEASANTRY } from '../capos/builtin/words.js';
import type { CapoRole } from '../terms/terms.js';
import { type Governor, governorOf, isTakenBack, saysSomething } from './governing.js';
import { type HandInWords, handInWordsAt } from './hand-in-words.js';
import { isPolite, openingOf } from './openings.js';
import type { SaidText, Sentence } from './sentences.js';

/** What a member asks to have done, in their own words. */
export interface MemberRequest {
  /** As it stands in the message. */
  text: string;
  /** Null: the consigliere chooses. */
  capo: CapoRole | null;
  /** Why it is no request after all. */
  governor: Governor | undefined;
}

/** The requests of a message, and what stands beside them. */
interface Requests {
  requests: MemberRequest[];
  /** What is asked or ordered besides, sentence by sentence. */
  beside: string[];
  /** Each word belongs to one of them for sure. */
  isClear: boolean;
}

/**
 * What a sentence is to the consigliere itself; undefined: nothing that it understands. Behind a request it may as well go on with
 * that, so it has to be plain whom it is for.
 */
export type ForMe = (sentence: string, isBehindRequest: boolean) => 'question' | 'act' | undefined;

/**
 * The directives that a message hands in by plain words, each from behind those words to the next request, or to what the member
 * asks the consigliere. Undefined where it hands in nothing so. A message in which it is not sure what belongs to which is not
 * clear, and hands in nothing.
 */
export function requestsIn(said: SaidText, forMe: ForMe): Requests | undefined {
  if (said.sentences.every(({ start }) => handInWordsAt(said.text, start) === undefined)) return undefined;
  const reader = new RequestReader(said, forMe);
  for (const at of said.sentences.keys()) reader.read(at);
  return reader.end();
}

class RequestReader {
  readonly #found: Requests = { requests: [], beside: [], isClear: true };
  #open: Open | undefined;

  constructor(
    private readonly said: SaidText,
    private readonly forMe: ForMe,
  ) {}

  read(at: number): void {
    const { text, sentences } = this.said;
    const sentence = sentences[at]!;
    const { start, end } = sentence;
    // "Hand this in" and its colon may stand in two lines.
    if (this.#open && start < this.#open.words.end) return this.goOn(sentence);
    const words = handInWordsAt(text, start);
    if (words) return this.begin(at, words);
    const kind = this.forMe(text.slice(start, end), this.#open !== undefined);
    if (kind === 'act' || (kind === 'question' && !this.isForReader(sentence))) {
      return this.putBeside(sentence, kind);
    }
    if (this.#open) this.goOn(sentence);
    else if (!isGreeting(sentence.masked)) this.#found.isClear = false;
  }

  end(): Requests | undefined {
    this.close(this.said.text.length);
    const { requests } = this.#found;
    return requests.length === 0 ? undefined : { ...this.#found, requests: eachOnce(requests) };
  }

  private begin(at: number, words: HandInWords): void {
    const sentence = this.said.sentences[at]!;
    const { capo } = words;
    // Within a text that is to be sent it may be a sentence of that text.
    if (capo === undefined || this.isContent(sentence)) this.#found.isClear = false;
    this.close(sentence.begin);
    if (capo === undefined) return;
    this.#open = { at, words: { ...words, capo }, saysAt: NOWHERE };
    this.noteContent(sentence, this.#open);
  }

  private putBeside(sentence: Sentence, kind: 'act' | 'question'): void {
    if (kind === 'act' && this.isContent(sentence)) this.#found.isClear = false;
    this.close(sentence.begin);
    this.#found.beside.push(this.said.text.slice(sentence.start, sentence.end));
  }

  private goOn(sentence: Sentence): void {
    const open = this.#open!;
    // A question that is neither understood nor part of what is to be said.
    if (open.saysAt === NOWHERE && /[?？]["”’»)\]]*$/.test(sentence.masked)) this.#found.isClear = false;
    this.noteContent(sentence, open);
  }

  private close(end: number): void {
    if (!this.#open) return;
    const request = requestFrom(this.said, this.#open, end);
    if (request) this.#found.requests.push(request);
    else this.#found.isClear = false;
    this.#open = undefined;
  }

  private noteContent({ start, masked, line }: Sentence, open: Open): void {
    const own = masked.slice(Math.max(0, open.words.end - start));
    if (saysSomething(own)) open.saysAt = Math.max(open.saysAt, own.endsWith(':') ? Infinity : line);
  }

  /** It may stand within what is to be said. */
  private isContent({ line }: Sentence): boolean {
    const saysAt = this.#open?.saysAt;
    return saysAt === line || saysAt === Infinity;
  }

  /** Whoever reads the text in which it stands is asked this. */
  private isForReader({ masked }: Sentence): boolean {
    return this.#open !== undefined && this.#open.saysAt !== NOWHERE && SPEAKS_TO_READER.test(masked);
  }
}

/** A request whose end is not known yet. */
interface Open {
  /** The sentence that its words begin. */
  at: number;
  words: HandInWords & { capo: CapoRole | null };
  /** The line of a text that is to be said with it, or all that follow. */
  saysAt: number;
}

const NOWHERE = -1;

function isGreeting(masked: string): boolean {
  return PLEASANTRY.test(masked) || openingOf(`${masked} `).length > masked.length;
}

const SPEAKS_TO_READER = /(?<!\p{L})(?:you|your|yours|we|us|our|ours)(?!\p{L})/iu;

function requestFrom(said: SaidText, { at, words }: Open, end: number): MemberRequest | undefined {
  const { text, sentences } = said;
  const { end: from, capo, isNegated } = words;
  const written = text.slice(from, end).trim();
  if (written === '') return undefined;
  const first = sentences[at]!;
  if (isNegated) return { text: text.slice(first.start, end).trim(), capo, governor: 'negation' };
  // "Hand this in:" may stand in a line of its own.
  const own = from < first.end ? at : at + 1;
  const isAsked = isPolite(openingOf(text.slice(first.start, from)));
  const command = first.masked.slice(Math.max(0, from - first.start));
  const isQuestionByForm = isAsked && own === at && !saysSomething(command);
  const isTakenBackLater = sentences.some(
    ({ start }, index) => index > own && start < end && isTakenBack(said, index),
  );
  const governor =
    (sentences[own] && governorOf(said, own, from)) ?? (isTakenBackLater ? 'negation' : undefined);
  if (isQuestionByForm && governor === 'question') {
    return { text: written.replace(/\s*[?？]\s*$/, ''), capo, governor: undefined };
  }
  return { text: written, capo, governor };
}

/** The same words for the same capo are one request, however often they are said. */
function eachOnce(requests: readonly MemberRequest[]): MemberRequest[] {
  const known = new Set<string>();
  return requests.filter(({ text, capo }) => {
    const key = `${capo} ${oneLine(text).toLowerCase()}`;
    if (known.has(key)) return false;
    known.add(key);
    return true;
  });
}
