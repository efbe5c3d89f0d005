import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutText } from './text.js';
import { isLongerThan } from './text-length.js';

const FAMILY = '👩‍👩‍👧‍👦';
const E_ACUTE = 'e\u0301';
const graphemes = (text: string) =>
  [...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)].map(({ segment }) => segment);

describe('cutText', () => {
  it.each([
    ['a text that fits', 'short', 5, 'short'],
    ['a longer one with an ending inside the limit', 'shorter', 5, 'shor…'],
    ['no white space in front of the ending', 'one two', 5, 'one…'],
    ['no half of a surrogate pair', `${'a'.repeat(118)}🎩 and more`, 120, `${'a'.repeat(118)}…`],
    ['no part of a joined emoji', `ab${FAMILY}cd`, 8, 'ab…'],
    ['a joined emoji that just fits', `${FAMILY}cd`, FAMILY.length + 1, `${FAMILY}…`],
    ['no flag in two', '🇩🇪🇫🇷🇮🇹', 7, '🇩🇪…'],
    ['no letter without its mark', `aa${E_ACUTE}bb`, 4, 'aa…'],
    ['no carriage return without its line feed', 'a\r\nbc', 3, 'a…'],
    ['the code points that fit of a first grapheme longer than the limit', FAMILY, 6, '👩\u200d👩…'],
    ['nothing of a first character longer than the limit', '🎩🎩', 2, '…'],
    ['a lone surrogate as U+FFFD', 'a\ud800', 5, 'a\ufffd'],
    ['a lone surrogate in front of the cut as U+FFFD', 'a\ud800bcdef', 4, 'a\ufffdb…'],
  ])('keeps %s', (_case, text, limit, kept) => {
    expect(cutText(text, limit)).toBe(kept);
  });

  it('keeps white space at the cut when nothing ends it', () => {
    expect(cutText('one two', 4, '')).toBe('one ');
  });

  it('is at most the limit by every count, well-formed, and a beginning in whole graphemes', () => {
    const pieces = fc.constantFrom(
      'a',
      ' ',
      '\u0301',
      '\u200d',
      '🎩',
      '🏽',
      FAMILY,
      E_ACUTE,
      '🇩🇪',
      '\r',
      '\n',
      '각',
      'क्षि',
    );
    const text = fc.string({
      unit: fc.oneof(pieces, fc.string({ unit: 'binary', maxLength: 1 })),
      maxLength: 200,
    });
    fc.assert(
      fc.property(
        text,
        fc.integer({ min: 1, max: 100 }),
        fc.constantFrom('', '…', ' (cut)'),
        (whole, limit, ending) => {
          fc.pre(ending.length <= limit);
          const cut = cutText(whole, limit, ending);
          expect(cut.length).toBeLessThanOrEqual(limit);
          expect(isLongerThan(cut, limit)).toBe(false);
          expect([...cut].length).toBeLessThanOrEqual(limit);
          expect(cut.isWellFormed()).toBe(true);
          if (whole.length <= limit) {
            expect(cut).toBe(whole.toWellFormed());
            return;
          }
          const first = graphemes(whole)[0] ?? '';
          if (first.length > limit - ending.length) return;
          const kept = cut.slice(0, cut.length - ending.length);
          const boundaries = graphemes(whole).map((_, index, all) =>
            all
              .slice(0, index + 1)
              .join('')
              .toWellFormed(),
          );
          const beginnings = ending === '' ? boundaries : boundaries.map((each) => each.trimEnd());
          expect(['', ...beginnings]).toContain(kept);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('cuts a million combining marks', () => {
    const marks = `e${'\u0301'.repeat(1_000_000)}`;
    expect(cutText(marks, 120)).toBe(`e${'\u0301'.repeat(118)}…`);
    expect(cutText(`Hello ${marks}`, 120)).toBe('Hello…');
  });
});
