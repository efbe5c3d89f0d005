import { withoutUnseen } from '../../platform/kernel/unseen.js';
import { readText } from '../capos/builtin/text.js';
import { handInWordsAt } from './hand-in-words.js';
import { withoutPasted } from './pasted.js';

/**
 * The sentences of a message. A directive is made of whole ones, so where it is not sure that a sentence ends it goes on: a
 * piece of one may mean the opposite of it.
 */

export interface Sentence {
  /** Where its line or its words begin: with the mark of a list before them. */
  begin: number;
  start: number;
  end: number;
  /** The words, as many as in the text: what is quoted, linked or an address is masked, and so ends and denies nothing. */
  masked: string;
  line: number;
  /** An entry of a list. */
  isEntry: boolean;
}

export interface SaidText {
  /** The message as it can be seen. */
  text: string;
  sentences: Sentence[];
}

const ENTRY = /^[ \t]*(?:[-*•–]|\d{1,3}[.)])[ \t]+/;
const CLOSED = String.raw`["”’»)\]]*`;
/** Words in small letters that begin a sentence all the same. */
const BEGINS = String.raw`(?:ask|tell|please|also|what|which|who|why|when|how|is|are|do|does|did|don['’]?t|no|never|bitte|sag|was|wer|wie|wann|warum|nein)(?!\p{L})`;
const END = new RegExp(
  [
    String.raw`[.…]*[!?][.!?…]*${CLOSED}(?=\s|$)`,
    String.raw`(?:[.…]+|\uFDD3)${CLOSED}(?=\s+(?:[^\s\p{Ll}]|${BEGINS})|\s*$)`,
    '[。！？]+',
  ].join('|'),
  'gu',
);
/** Whatever ends a line that is whole; a line without any may go on in the next one. */
const ENDED = /[.!?…:;。！？\uFDD3]["”’»)\]]*$/u;
/** Opened, and not closed: what is closed is masked. */
const OPEN_QUOTE = /(?:^|[\s(])["“„«]/;
const ABBREVIATED =
  /(?<![\p{L}\d])(?:\d{1,2}|e\.g|i\.e|mr|mrs|ms|dr|prof|st|vs|eg|ie|etc|incl|excl|approx|inc|ltd|co|corp|dept|fig|al|jr|sr|bzw|ca|usw|inkl|exkl|zzgl|ggf|evtl|vgl|bspw|sog|str|tel|mio|mrd|abs|art|std|min|max|abt|jan|feb|mar|apr|jun|jul|aug|sept?|oct|okt|nov|dec|dez)$/iu;
/** "Jane B. Miller", "z. B. morgen", "No. 5": and not "Plan b. Call her." or "No. Call her." */
const INITIAL = /(?<![\p{L}\d])(?:\p{Lu}\.|\p{Ll}\.\s?\p{L}\.|(?:[Nn]o|[Nn]r)\.\s?\d)/uy;

export function readSentences(message: string): SaidText {
  const { text, masked: all } = readText(withoutUnseen(message));
  const masked = withoutPasted(all);
  const sentences: Sentence[] = [];
  let begin = 0;
  for (const [line, words] of masked.split('\n').entries()) {
    addLine(sentences, { text, words, begin, line });
    begin += words.length + 1;
  }
  return { text, sentences };
}

interface Line {
  text: string;
  words: string;
  begin: number;
  line: number;
}

function addLine(sentences: Sentence[], { text, words, begin, line }: Line): void {
  const mark = ENTRY.exec(words)?.[0].length ?? 0;
  const isEntry = mark > 0;
  let from = mark;
  for (const end of endsIn(words, mark)) {
    const piece = words.slice(from, end);
    const masked = piece.trim();
    const start = begin + from + (piece.length - piece.trimStart().length);
    const previous = sentences.at(-1);
    if (!/[\p{L}\p{N}\uFDD0-\uFDD3]/u.test(masked)) {
      // Blank, or marks alone.
    } else if (from === 0 && previous && goesOn(previous, { text, masked, start, line })) {
      previous.masked += ' '.repeat(start - previous.end) + masked;
      previous.end = start + masked.length;
      previous.line = line;
    } else {
      const isFirst = from === mark;
      sentences.push({
        begin: isFirst ? begin : start,
        start,
        end: start + masked.length,
        masked,
        line,
        isEntry,
      });
    }
    from = end;
  }
}

/** Where the sentences of a line end, each behind its marks; the last one with the line. */
function endsIn(words: string, from: number): number[] {
  const open = words.search(OPEN_QUOTE);
  const ends = [...words.matchAll(END)]
    .filter(({ 0: mark, index }) => {
      if (index < from || (open >= 0 && index > open)) return false;
      if (mark !== '.') return true;
      return !ABBREVIATED.test(words.slice(Math.max(0, index - 12), index)) && !isInitial(words, index);
    })
    .map(({ 0: mark, index }) => index + mark.length);
  return ends.at(-1) === words.length ? ends : [...ends, words.length];
}

function isInitial(words: string, dot: number): boolean {
  return [dot - 1, dot - 2].some((at) => {
    INITIAL.lastIndex = Math.max(0, at);
    return INITIAL.test(words);
  });
}

/** Whether a line is no sentence of its own: "Do not" in one line, "send it" in the next. */
function goesOn(
  previous: Sentence,
  { text, masked, start, line }: Pick<Sentence, 'masked' | 'start' | 'line'> & { text: string },
): boolean {
  return (
    previous.line === line - 1 &&
    /^\p{Ll}/u.test(masked) &&
    !ENDED.test(previous.masked) &&
    handInWordsAt(text, start) === undefined
  );
}
