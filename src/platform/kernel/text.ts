/** C0, DEL, C1 and the two Unicode line separators: in a mail header each of them could start a new header line. */
// oxlint-disable-next-line no-control-regex -- refusing control characters is the purpose
export const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
/** A text of one line. As a constant it stands in no OpenAPI document, since Python and Go know no `\p{Cc}`. */
// oxlint-disable-next-line no-control-regex -- as above
export const ONE_LINE = /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*$/;
/** The same for text of several lines, which may hold tabs and line breaks. */
// oxlint-disable-next-line no-control-regex -- as above
export const CONTROL_IN_TEXT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * `text` itself, or its beginning and `ending` where it is longer than `maxLength`. This is the only place that
 * shortens what people, models or servers wrote: it cuts between graphemes, so never inside an emoji, a surrogate pair
 * or a letter with its marks, and what it answers is well-formed.
 *
 * Lengths are UTF-16 code units, the ending included. A text has no more code points than that, so it passes the limits
 * of ./text-length.ts and of the tables too; in UTF-8 it is at most three bytes for each unit.
 *
 * Only a first grapheme that alone is longer than `maxLength` is cut, between its code points. No more of the text is
 * segmented than is kept: 50,000 combining marks take less than a millisecond.
 */
export function cutText(text: string, maxLength: number, ending = '…'): string {
  if (text.length <= maxLength) return text.toWellFormed();
  const room = Math.max(0, maxLength - ending.length);
  const kept = text.slice(0, boundaryBefore(text, room)).toWellFormed();
  return (ending === '' ? kept : kept.trimEnd()) + ending;
}

/** Whether there is a boundary depends on what stands in front of it and on the one code point behind it. */
function boundaryBefore(text: string, index: number): number {
  const boundary = GRAPHEMES.segment(text.slice(0, index + 2)).containing(index)?.index ?? 0;
  if (boundary > 0 || index === 0) return boundary;
  return isSurrogatePair(text, index - 1) ? index - 1 : index;
}

function isSurrogatePair(text: string, index: number): boolean {
  return (text.codePointAt(index) ?? 0) > 0xffff;
}

/** As a row can keep it: PostgreSQL takes neither NUL nor half a surrogate pair. */
export function storable(text: unknown): string {
  return String(text).replaceAll('\0', '\ufffd').toWellFormed();
}

/** Numbers as a person reads them, in the English of all that the service says. */

const NUMBER = new Intl.NumberFormat('en');
/** Revenue is kept to four places, what models cost to six: a rounded amount would not be the one that receipts show. */
const AMOUNT = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 6 });

export function readableNumber(n: number): string {
  return NUMBER.format(n);
}

/** How many of something there are; the noun takes an s. */
export function counted(n: number, noun: string): string {
  return `${readableNumber(n)} ${noun}${n === 1 ? '' : 's'}`;
}

/** With the code behind it, since two currencies may share a sign. */
export function money(amount: number, currency: string): string {
  return `${AMOUNT.format(amount)} ${currency}`;
}
