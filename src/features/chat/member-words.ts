import type { Fault } from '../../platform/kernel/define-error.js';
import { withoutUnseen } from '../../platform/kernel/unseen.js';
import { type Governor, governorOf, isNegated, isTakenBack, saysSomething } from './governing.js';
import { handInWordsAt } from './hand-in-words.js';
import { isPolite, openingOf } from './openings.js';
import type { MemberRequest } from './requests.js';
import { readSentences, type SaidText, type Sentence } from './sentences.js';

/**
 * Finds what a model wants to hand in among the member's own words. Only whole sentences and lines count, from the first word to the
 * last, and none that a negation or a question governs: a piece of "do not send it" says the opposite.
 */
export class MemberWords {
  readonly #said: SaidText;
  /** The message with single spaces, and where each place of it stands in that. */
  readonly #spaced: string;
  readonly #places: Uint32Array;
  /** By the place of their ends, with and without the mark that ends them, which sentence ends there. */
  readonly #ends = new Map<number, number>();
  /** Of each sentence, once it was asked for: a message may say the same sentence hundreds of times. */
  readonly #governors = new Map<number, Governor | undefined>();

  constructor(message: string) {
    this.#said = readSentences(message);
    [this.#spaced, this.#places] = singleSpaced(this.#said.text);
    for (const [at, { end }] of this.#said.sentences.entries()) {
      const last = this.#places[end]!;
      const mark = /[\s.!?…]*$/.exec(this.#spaced.slice(Math.max(0, last - 10), last))![0].length;
      this.#ends.set(last, at);
      this.#ends.set(last - mark, at);
    }
  }

  /** What is to be handed in of it, or what is wrong with these parts of the message. */
  find(wanted: readonly string[]): { ok: true; requests: MemberRequest[] } | { ok: false; faults: Fault[] } {
    const faults: Fault[] = [];
    const spans: Span[] = [];
    for (const [index, words] of wanted.entries()) {
      const found = this.spansOf(words);
      const wrong = found.map((span) => this.faultOf(span)).find((fault) => fault !== undefined);
      const [span] = found;
      const fault = span ? wrong : NOT_WHOLE;
      if (fault !== undefined) {
        faults.push({ path: `directives.${index}`, ...fault });
      } else if (!spans.some((known) => known.first === span!.first && known.last === span!.last)) {
        if (spans.some((known) => known.first <= span!.last && span!.first <= known.last)) {
          faults.push({ path: `directives.${index}`, ...TWICE });
        }
        spans.push(span!);
      }
    }
    if (faults.length > 0) return { ok: false, faults };
    return { ok: true, requests: spans.map((span) => this.requestOf(span)) };
  }

  /** Wherever these words stand, from the beginning of a sentence to the end of one. */
  private spansOf(words: string): Span[] {
    const [spaced] = singleSpaced(withoutUnseen(words));
    const wanted = spaced.trim();
    if (!/\p{L}\S*\s+\S/u.test(wanted) && !/[^\p{ASCII}\s]{4,}/u.test(wanted)) return [];
    const { sentences } = this.#said;
    return sentences.flatMap((sentence, first) => {
      for (const { from, capo } of this.beginningsOf(sentence)) {
        const place = this.#places[from]!;
        if (!this.#spaced.startsWith(wanted, place)) continue;
        const last = this.#ends.get(place + wanted.length);
        if (last !== undefined && last >= first) return [{ first, last, from, capo }];
      }
      return [];
    });
  }

  /** At its first word, or behind those that only address somebody. */
  private beginningsOf({ start, end }: Sentence): Pick<Span, 'from' | 'capo'>[] {
    const { text } = this.#said;
    const from = start + openingOf(text.slice(start, end)).length;
    const words = handInWordsAt(text, start);
    const behind = words && words.capo !== undefined && !words.isNegated && words.end < end;
    return [
      { from: start, capo: null },
      { from: Math.min(from, end), capo: null },
      ...(behind ? [{ from: words.end, capo: words.capo! }] : []),
    ];
  }

  private faultOf({ first, last }: Span): Omit<Fault, 'path'> | undefined {
    const { text, sentences } = this.#said;
    const governor = this.governorOf(first) ?? (isTakenBack(this.#said, last) ? 'negation' : undefined);
    if (governor) return GOVERNED[governor];
    // Where something is to be said with it, a question may be part of that.
    for (let at = first; at < last && !saysSomething(sentences[at]!.masked); at++) {
      if (this.governorOf(at + 1) === 'question') return GOVERNED.question;
    }
    const next = sentences[last + 1];
    const goesOn = next && !next.masked.endsWith('?') && handInWordsAt(text, next.start) === undefined;
    return goesOn && isNegated(next.masked) ? GOES_ON : undefined;
  }

  private governorOf(at: number): Governor | undefined {
    if (!this.#governors.has(at)) this.#governors.set(at, governorOf(this.#said, at));
    return this.#governors.get(at);
  }

  private requestOf({ first, last, from, capo }: Span): MemberRequest {
    const { text, sentences } = this.#said;
    const { start, masked } = sentences[first]!;
    const written = text.slice(from, sentences[last]!.end);
    // "Could you call Jane?"
    const isQuestionByForm = isPolite(openingOf(text.slice(start, from))) && !saysSomething(masked);
    return { text: isQuestionByForm ? written.replace(/\s*\?$/, '') : written, capo, governor: undefined };
  }
}

/** A directive within the message: from a place in one of its sentences to the end of one. */
interface Span {
  first: number;
  last: number;
  from: number;
  capo: MemberRequest['capo'];
}

const NOT_WHOLE = {
  rule: 'verbatim',
  message:
    'must be one whole sentence or line of "message", or several that follow each other, word for word from the first word to the last',
};
const TWICE = { rule: 'once', message: 'must share no words of "message" with another directive' };
const GOVERNED = {
  negation: {
    rule: 'positive',
    message: '"message" says not to do it, or takes it back: hand in nothing of it',
  },
  question: { rule: 'request', message: 'is a question in "message" and no request: hand in nothing of it' },
};
const GOES_ON = {
  rule: 'whole',
  message: 'must go on with the next sentence of "message", which says what not to do',
};

/** The text with single spaces, and for each place in the text the one in that. */
function singleSpaced(text: string): [string, Uint32Array] {
  const places = new Uint32Array(text.length + 1);
  let spaced = '';
  for (let at = 0; at < text.length; at++) {
    places[at] = spaced.length;
    const unit = text[at]!;
    if (!/\s/.test(unit)) spaced += unit;
    else if (!spaced.endsWith(' ')) spaced += ' ';
  }
  places[text.length] = spaced.length;
  return [spaced, places];
}
