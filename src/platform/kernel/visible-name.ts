import { ValidateBy } from 'class-validator';
import { EMOJI, hasUnseen } from './unseen.js';

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * What a name does not have, though a text may: control, format (bidirectional ones too), private, unassigned, line separators,
 * and all that shows as nothing. Two names that differ in one of these alone look the same.
 */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** More marks on one letter than any language writes. */
const STACKED_MARKS = /\p{M}{5}/u;

/** Scripts with letters that look like those of another; a word is of one of them. */
const LOOK_ALIKE = [
  /\p{Script=Latin}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Cherokee}/u,
];

/** As it is stored: NFKC, one space between words. */
export function visibleName(text: string): string {
  return text.normalize('NFKC').replace(/\s+/gu, ' ').trim();
}

/** As it is compared: two names with one key look alike. */
export function nameKey(text: string): string {
  return visibleName(text).toUpperCase().toLowerCase().normalize('NFKC');
}

/** What keeps a text from being a name that people tell from others, to be read after "must"; undefined when nothing does. */
export function nameFault(text: string, maxLength: number): string | undefined {
  if (/\p{Cc}/u.test(text)) return 'not contain line breaks or other control characters';
  const name = visibleName(text);
  const length = [...GRAPHEMES.segment(name)].length;
  if (length < 1 || length > maxLength || name.length > maxLength * 8)
    return `have 1 to ${maxLength} characters`;
  if (hasUnseen(name) || INVISIBLE.test(name.replace(EMOJI, '')))
    return 'not contain invisible characters or ones that change the direction of text';
  if (STACKED_MARKS.test(name)) return 'not have more than four marks on a letter';
  if (!/[\p{L}\p{N}\p{Extended_Pictographic}\p{RI}]/u.test(name))
    return 'contain a letter, a digit or an emoji';
  if (name.includes('://')) return 'not contain an address of the web';
  const mixed = name
    .split(/[^\p{L}\p{M}]+/u)
    .find((word) => LOOK_ALIKE.filter((script) => script.test(word)).length > 1);
  if (mixed !== undefined) return `not mix letters of several alphabets in one word (${mixed})`;
  return undefined;
}

/** A name that people tell from others, of so many characters as people count them. */
export function IsVisibleName(maxLength: number): PropertyDecorator {
  const fault = (value: unknown) => (typeof value === 'string' ? nameFault(value, maxLength) : 'be text');
  return ValidateBy({
    name: 'isVisibleName',
    validator: {
      validate: (value) => fault(value) === undefined,
      defaultMessage: (given) => `$property must ${fault(given?.value)}`,
    },
  });
}
