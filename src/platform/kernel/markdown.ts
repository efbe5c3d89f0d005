import { withoutUnseen } from './unseen.js';

/**
 * Words of others in Markdown: whatever characters they have, a reader sees these words and nothing else. No program that renders
 * it finds an image to load, a link, a tag or a heading in them. A host that is named without `//` or `www.` stays as it is: whether
 * that becomes a link is each program's own guess, and it leads where it says.
 */

/** Each with a meaning wherever it stands. */
const ANYWHERE = /[\\`*_[\]<>~|&]/g;
/** Of a heading, a list, a line or a table. */
const AT_THE_BEGINNING = /^[#+=:-]/;
const NUMBER_OF_A_LIST = /^(\d+)(?=[.)](?:\s|$))/;
/** Which a heading leaves out. */
const SIGNS_AT_THE_END = /(?<=\s)#+$/;
/** What makes a link without any mark of Markdown. */
const ADDRESS = /\/{2,}|(?<![\p{L}\p{N}])www(?=\.)/giu;

const LINE_BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;
const MOST_INDENTED = 40;

/** On one line, as one can stand in a paragraph, a heading or a list. */
export function markdownLine(text: string): string {
  return withoutUnseen(text.replace(/[\s\u0085]+/g, ' '))
    .trim()
    .replace(ANYWHERE, String.raw`\$&`)
    .replace(ADDRESS, (found) =>
      found.startsWith('/') ? found.replaceAll('/', String.raw`\/`) : found + '\\',
    )
    .replace(SIGNS_AT_THE_END, String.raw`\$&`)
    .replace(AT_THE_BEGINNING, String.raw`\$&`)
    .replace(NUMBER_OF_A_LIST, '$1\\');
}

/** As a quote of several lines, which stay lines; an indentation is kept with spaces that make no block of code. */
export function markdownQuote(text: string): string {
  const lines = text.split(LINE_BREAK).map((line) => {
    const words = markdownLine(line);
    const indented = /^[ \t]*/.exec(line)![0].replaceAll('\t', '    ').length;
    return words === '' ? '' : '\u00a0'.repeat(Math.min(indented, MOST_INDENTED)) + words;
  });
  return lines
    .map((line, at) => {
      if (line === '') return '>';
      // Two spaces at the end keep the next line apart from this one.
      return `> ${line}${(lines[at + 1] ?? '') === '' ? '' : '  '}`;
    })
    .join('\n');
}
