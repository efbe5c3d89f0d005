import { describe, expect, it } from 'vitest';
import { nameFault, nameKey, visibleName } from './visible-name.js';

describe('a visible name', () => {
  it.each([
    'Marketing',
    'R&D',
    'Vertrieb Süd',
    '営業',
    '👩‍💻 Web',
    'Ελλάδα',
    'Продажи EU',
    '❤️ Care',
    '🏴󠁧󠁢󠁥󠁮󠁧󠁿 England',
    '1️⃣ Team',
    'दिल्ली',
    '7',
  ])('may be %s', (name) => expect(nameFault(name, 60)).toBeUndefined());

  it.each([
    ['empty', ''],
    ['spaces', '   '],
    ['a line break', 'A\nB'],
    ['a tab', 'A\tB'],
    ['an escape', 'A\u001b[31m'],
    ['a zero-width space', 'Mar\u200bketing'],
    ['tags', `Sales\u{e0061}\u{e0062}`],
    ['tags behind a flag', '🏴\u{e0061}\u{e0062}\u{e007f}'],
    ['a joiner in Persian, whose lack may look the same', 'خانه\u200cها'],
    ['a joiner between letters', 'Mar\u200dketing'],
    ['an override of the direction', 'Sales\u202egnp'],
    ['an isolate', '\u2066Sales\u2069'],
    ['a soft hyphen', 'Sa\u00adles'],
    ['a Hangul filler', '\u3164'],
    ['an empty Braille pattern', '\u2800'],
    ['stacked marks', `Z${'\u0301'.repeat(9)}`],
    ['marks alone', '---'],
    ['a private character', 'A\ue000'],
    ['an address', 'see https://evil.example'],
    ['Latin with a Cyrillic a', 'M\u0430rketing'],
    ['61 characters', 'x'.repeat(61)],
  ])('may not be %s', (_what, name) => expect(nameFault(name, 60)).toBeTypeOf('string'));

  it('is as long as people count', () => {
    expect(nameFault('👩‍💻'.repeat(60), 60)).toBeUndefined();
    expect(nameFault('👩‍💻'.repeat(61), 60)).toBe('have 1 to 60 characters');
  });

  it('is stored in NFKC with single spaces', () => {
    expect(visibleName('  Ｍarketing \u00a0 ﬁne ')).toBe('Marketing fine');
  });

  it.each([
    ['Marketing', 'ＭARKETING'],
    ['Straße', 'STRASSE'],
    ['Café', 'Cafe\u0301'],
    ['Σας', 'ΣΑΣ'],
  ])('%s is compared like %s', (a, b) => expect(nameKey(a)).toBe(nameKey(b)));
});
