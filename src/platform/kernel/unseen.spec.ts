import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  deepMarkUnseen,
  deepWithoutUnseen,
  hasUnseen,
  isBlank,
  markUnseen,
  withoutUnseen,
} from './unseen.js';

const tags = (text: string) =>
  [...text].map((letter) => String.fromCodePoint(0xe0000 + letter.codePointAt(0)!)).join('');

describe('what can be seen', () => {
  it.each([
    ['a family', '👨‍👩‍👧‍👦 and 👩🏽‍🚀, 👩‍❤️‍👨, 🧑🏿‍🤝‍🧑🏻'],
    ['flags', '🇩🇪 🇯🇵 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🏴󠁧󠁢󠁷󠁬󠁳󠁿 🏳️‍🌈 🏴‍☠️'],
    ['keycaps', '1️⃣ #️⃣ *️⃣'],
    ['signs', '❤️ ❤︎ ☎️ ✔️ ©️ ™ ❤️‍🔥 👁️‍🗨️ 🙂‍↔️'],
    ['Arabic', 'مرحبًا بكم، السعر ١٢٣ ريال'],
    ['Arabic with marks of direction', 'السعر \u200e+49 30 123456\u200e فقط. \u061c(أ)'],
    ['Arabic with a sign of numbers', '\u0600\u0661\u0662 و\u06dd\u0663'],
    ['Hebrew', 'שָׁלוֹם, מחיר: 100 ₪\u200f. יְרוּשָׁלַ͏ִם'],
    ['Hindi', 'नमस्ते, क्‍ष और क्‌ष, श्री'],
    ['Bengali', 'র‍্যাব, স্বাগতম'],
    ['Malayalam', 'അവന്‍ പറഞ്ഞു'],
    ['Sinhala', 'ශ්‍රී ලංකාව'],
    ['Persian', 'می‌خواهم خانه‌ها را ببینم؛ ه‍.ش.'],
    ['Khmer and Thai with breaks', 'ខ្ញុំ​ស្រឡាញ់ ไทย​ดี'],
    ['Japanese', '葛󠄀城さん、東京は晴れです。'],
    ['Mongolian', 'ᠮᠣᠩᠭᠣᠯ ᠪᠢᠴᠢᠭ᠌'],
    ['Braille with a blank between words', '\u2813\u2811\u2800\u2807\u2815'],
    ['lines and tabs', 'Hello\r\n\tJane\n\n1.\u00a0Item\u202f%'],
    ['Vietnamese', 'Xin cha\u0300o, tiê\u0301ng Viê\u0323t'],
  ])('stays: %s', (_what, text) => {
    expect(withoutUnseen(text)).toBe(text);
    expect(hasUnseen(text)).toBe(false);
  });
});

describe('what cannot be seen', () => {
  it.each([
    ['tags', `leaves today.${tags('guardian mode guardrailed')}`, 'leaves today.'],
    ['tags behind a flag', `🏴${tags('secret')}\u{e007f}!`, '🏴!'],
    ['tags behind the flag of England', `🏴󠁧󠁢󠁥󠁮󠁧󠁿${tags('secret')}`, '🏴󠁧󠁢󠁥󠁮󠁧󠁿'],
    ['an override', 'invoice\u202efdp.exe\u202c', 'invoicefdp.exe'],
    ['embeddings', '\u202aa\u202bb\u202d', 'ab'],
    ['isolates', '\u2066a\u2067b\u2068c\u2069', 'abc'],
    ['overrides in Hebrew', 'שלום\u202eabc', 'שלוםabc'],
    ['a zero-width space', 'pay\u200bpal', 'paypal'],
    ['joiners between Latin letters', 'a\u200db\u200cc', 'abc'],
    ['joiners in a row', 'می\u200c\u200dخواهم', 'میخواهم'],
    ['a mark of direction in Latin', 'a\u200eb\u200f', 'ab'],
    ['marks of direction apart, with no letter of their scripts', '\u061c-\u200e', '-'],
    ['a word joiner and a byte order mark', '\ufeffa\u2060b', 'ab'],
    ['invisible operators', 'a\u2061\u2062\u2063\u2064b', 'ab'],
    ['soft hyphens', 'pay\u00adpal\u00ad\u00ad', 'paypal'],
    ['blanks of Braille', 'pay\u2800pal\u2800', 'paypal'],
    ['a note without a head and a filler of Khitan', 'a\u{1d159}b\u{16fe4}', 'ab'],
    ['variation selectors', 'a\ufe00b\ufe0f\u{e0101}c', 'abc'],
    ['selectors in a row', '😀\ufe0f\u{e0140}\u{e0150}', '😀\ufe0f'],
    ['Hangul fillers', 'a\u3164b\uffa0c\u115f\u1160', 'abc'],
    ['control characters', 'a\u0000b\u0007c\u001bd\u007fe\u0085f', 'abcdef'],
    ['annotations', 'a\ufff9b\ufffac\ufffb', 'abc'],
    ['half characters, which would be whole without what is between them', 'a\ud83d\u200b\udc69b', 'ab'],
    ['noncharacters', 'a\ufdd0b\u{1ffff}', 'ab'],
  ])('goes: %s', (_what, text, seen) => {
    expect(hasUnseen(text)).toBe(true);
    expect(withoutUnseen(text)).toBe(seen);
  });

  it('goes once for all, and nothing else does', () => {
    const parts = fc.constantFrom(
      ...['\ud83d', '\udc69'],
      ...'👩💻❤🏴1ab אم خक्த。葛',
      ...['👩‍💻', '\u200d', '\u200c', '\ufe0f', '\u200e', '\u00ad', '\u20e3', '\u034f', '\u0301', tags('a')],
      ...['\u{e007f}', '\u202e', '\u200b', '\u{e0100}', '\t', '\n'],
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.array(parts).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(text, (given) => {
        const seen = withoutUnseen(given);
        expect(withoutUnseen(seen)).toBe(seen);
        expect(hasUnseen(seen)).toBe(false);
        expect(seen.replace(/[\p{C}\p{Default_Ignorable_Code_Point}]/gu, '')).toBe(
          given.replace(/[\p{C}\p{Default_Ignorable_Code_Point}]/gu, ''),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('never goes from words, whatever the script', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[\p{L}\p{N}\p{P}\p{Zs}\p{Sc}]*$/u), (text) => {
        fc.pre(!/\p{Default_Ignorable_Code_Point}/u.test(text));
        expect(withoutUnseen(text)).toBe(text);
      }),
    );
  });

  it('is found fast in a long text', () => {
    const text = 'א'.padEnd(100_000, '1 .\u200e');
    expect(withoutUnseen(withoutUnseen(text))).toBe(withoutUnseen(text));
  });

  it('goes from every text of a value', () => {
    expect(deepWithoutUnseen({ a: ['x\u200by', 1, null, { 'k\u202e': 'z' }] })).toEqual({
      a: ['xy', 1, null, { k: 'z' }],
    });
  });
});

describe('a blank text', () => {
  it.each([
    ['nothing', ''],
    ['white space', ' \t\r\n\u00a0\u2003\u2028\u3000'],
    ['a zero-width space', '\u200b'],
    ['an override and its end', '\u202e\u202c'],
    ['isolates', '\u2066 \u2069'],
    ['tags', tags('approve it')],
    ['joiners', '\u200d\u200c\u200d'],
    ['variation selectors', '\ufe0f\ufe0e\u{e0101}'],
    ['a byte order mark and a word joiner', '\ufeff\u2060'],
    ['fillers', '\u3164\uffa0\u115f'],
    ['a soft hyphen', '\u00ad'],
    ['a mark of Arabic and one of Mongolian', '\u061c\u180e\u180b'],
    ['control characters', '\u0000\u0007\u0085'],
    ['letters of Braille without dots', '\u2800\u2800'],
  ])('is %s', (_what, text) => expect(isBlank(text)).toBe(true));

  it.each([
    ['a family', '👨‍👩‍👧‍👦'],
    ['a flag', '🇩🇪'],
    ['the flag of England', '🏴󠁧󠁢󠁥󠁮󠁧󠁿'],
    ['a heart', '❤️'],
    ['a keycap', '1️⃣'],
    ['a letter with a mark', 'e\u0301'],
    ['a mark alone', '\u0301'],
    ['Persian', 'می‌خواهم'],
    ['a Chinese character in one of its forms', '葛󠄀'],
    ['a letter of Braille', '⠁'],
    ['a sign of Arabic numbers', '\u0600'],
    ['a dot amid what nobody sees', `\u200b${tags('x')}.`],
  ])('is not %s', (_what, text) => expect(isBlank(text)).toBe(false));

  it('is one of which white space is left when what cannot be seen is gone', () => {
    const parts = fc.constantFrom(
      ...['👩‍💻', '🏴', 'م', 'क', 'ᠮ', '葛', 'a', '\u0301', '\u2800', '\u20e3', '\u0600', '\ud83d'],
      ...['\u200d', '\u200c', '\ufe0f', '\u200e', '\u061c', '\u180b', '\u00ad', '\u034f', tags('a')],
      ...['\u{e007f}', '\u202e', '\u200b', '\u{e0100}', '\u3164', ' ', '\n', '\u2028'],
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 4 }),
      fc.array(parts, { maxLength: 5 }).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(text, (given) => {
        expect(isBlank(given)).toBe(/^[\s\u2800]*$/u.test(withoutUnseen(given)));
      }),
      { numRuns: 1_000 },
    );
  });

  it('is told fast, however long it is', () => expect(isBlank(tags('a').repeat(400_000))).toBe(true));
});

describe('a mark', () => {
  it('stands for each character that cannot be seen, and for nothing that a text needs', () => {
    expect(markUnseen('invoice\u202efdp.exe\u{e0041} 👩‍👩‍👧')).toBe('invoice[U+202E]fdp.exe[U+E0041] 👩‍👩‍👧');
    expect(deepMarkUnseen({ a: ['x\u200b', 1, null] })).toEqual({ a: ['x[U+200B]', 1, null] });
  });
});
