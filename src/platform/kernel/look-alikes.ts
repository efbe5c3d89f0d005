import { domainToUnicode } from 'node:url';

/**
 * Letters that look like ASCII ones, behind what they look like: all entries of confusables.txt (Unicode Technical Standard 39,
 * version 17.0.0, (c) Unicode, Inc., Unicode License v3) whose letter may stand in a name of the internet, in lower case and
 * in a recommended script other than Latin, and looks like letters, digits or hyphens of ASCII.
 */
const CONFUSABLES =
  '3\u0969\u0ae9 6\u0431 8\u09ea\u0a6a\u0b03 9\u09ed\u0a67\u0b68\u0d6d a\u03b1\u0430 ae\u04d5 ' +
  'c\u0441\u1004\u105a d\u0501 e\u0435\u04bd f\u0584 g\u0581 h\u04bb\u0570 i\u03b9\u0456\u0582\ua647 ' +
  'j\u03f3\u0458 l\u04cf\u06f1 n\u0578\u057c ' +
  'o\u03bf\u03c3\u043e\u0585\u06f5\u0966\u09e6\u0a66\u0ae6\u0b66\u0be6\u0c02\u0c66\u0c82\u0d02\u0d20\u0d66\u0d82\u0e50\u0ed0\u101d\u1040\u10ff\u17e0 ' +
  'O\u0b20\u0ce6\u12d0\u3007 oo\ua699 p\u03c1\u03f8\u0440 q\u051b\u0563\u0566 r\u0433\u1d26 ' +
  's\u0455\u0d1f u\u03c5\u057d U\u1200 v\u03bd\u0475 V\u06f7 w\u0448\u0461\u051d\u0561 x\u0445 ' +
  'y\u03b3\u0443\u04af\u10e7 Z\u{102f5}';

const ASCII_OF = new Map(
  CONFUSABLES.split(' ').flatMap((entry) => {
    const [ascii = ''] = /^[a-z\d-]+/i.exec(entry) ?? [];
    return [...entry.slice(ascii.length)].map((letter) => [letter, ascii] as const);
  }),
);

/** The recommended scripts (Unicode Standard Annex 31, table 5). */
const SCRIPTS =
  'Arabic Armenian Bengali Bopomofo Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Han Hangul Hebrew Hiragana Kannada Katakana Khmer Lao Latin Malayalam Myanmar Oriya Sinhala Tamil Telugu Thaana Thai Tibetan'.split(
    ' ',
  );
const of = (...scripts: string[]) => {
  const any = ['Common', 'Inherited', ...scripts].map(
    (script) => String.raw`\p{Script_Extensions=${script}}`,
  );
  return new RegExp(`^[${any.join('')}]+$`, 'u');
};
/** One script, or Latin with those that are written together ("highly restrictive", UTS 39, 5.2). */
const UNMIXED = [
  ...SCRIPTS.map((script) => of(script)),
  of('Latin', 'Han', 'Hiragana', 'Katakana'),
  of('Latin', 'Han', 'Bopomofo'),
  of('Latin', 'Han', 'Hangul'),
];

/** The text with ASCII in the place of each lower-case letter that looks like it. */
export function asciiLooks(text: string): string {
  return [...text].map((letter) => ASCII_OF.get(letter) ?? letter).join('');
}

/** Why a name of letters beyond ASCII may be taken for another one, to be read after it; undefined where it may not. */
function deception(label: string): string | undefined {
  if (!/\P{ASCII}/u.test(label)) return undefined;
  if (!UNMIXED.some((script) => script.test(label))) return 'mixes letters of several alphabets';
  const looks = asciiLooks(label);
  return /\P{ASCII}/u.test(looks) || /\p{Script_Extensions=Latin}/u.test(label.replace(/\p{ASCII}/gu, ''))
    ? undefined
    : `is written in letters that look like “${looks}”`;
}

/** Why a mail address, or a domain, may be taken for another one, as the end of a sentence about it; undefined where it may not. */
export function lookAlike(address: string): string | undefined {
  const at = address.lastIndexOf('@');
  const domain = domainToUnicode(address.slice(at + 1)).normalize('NFC');
  const labels = [
    ...address
      .slice(0, Math.max(0, at))
      .normalize('NFC')
      .split(/[._%+'-]/),
    ...domain.split('.'),
  ];
  return labels.map((label) => deception(label.toLowerCase())).find((reason) => reason !== undefined);
}
