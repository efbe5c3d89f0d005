/** Where a message begins that somebody else wrote; it ends with the text, or where the line is drawn again. */
const PASTED =
  /^[ \t]*(?:-{3,}[^\n]*|(?:begin forwarded message|(?:original|forwarded) message|(?:weitergeleitete|ursprüngliche) nachricht|message (?:transféré|d['’]origine)|mensaje (?:reenviado|original))[ \t]*:?[ \t]*|>.*(?:\n[ \t]*>.*)*|(?:from|von|de)[ \t]*:[^\n]*\uFDD1[^\n]*)$/gimu;
const LINE = /^[ \t]*-{3,}[ \t]*$/;

/**
 * The words with spaces in place of what somebody else wrote, since nothing in it is asked for: between two lines of dashes, from
 * "--- Forwarded message" or "From: ..." to the end, and lines that begin with ">".
 */
export function withoutPasted(masked: string): string {
  const marks = [...masked.matchAll(PASTED)];
  let own = masked;
  let last = 0;
  for (const [index, mark] of marks.entries()) {
    if (mark.index < last) continue;
    const isLine = LINE.test(mark[0]);
    const close = isLine ? marks.slice(index + 1, index + 20).find((each) => LINE.test(each[0])) : undefined;
    // One line of dashes alone is a rule, not a message.
    if (isLine && !close) continue;
    const end = mark[0].trimStart().startsWith('>') ? mark.index + mark[0].length : masked.length;
    last = close ? close.index + close[0].length : end;
    own = `${own.slice(0, mark.index)}${' '.repeat(last - mark.index - 1)}\n${own.slice(last)}`;
  }
  return own;
}
