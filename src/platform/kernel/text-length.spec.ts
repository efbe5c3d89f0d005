import { Ajv2020 } from 'ajv/dist/2020.js';
import { IsString, validateSync } from 'class-validator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { IsPlainText } from './plain-text.js';
import { isLongerThan, Length, lengthOf, MaxLength, MinLength } from './text-length.js';

const MOST = 12;
const LEAST = 3;

class Texts {
  @MaxLength(MOST)
  most!: string;

  @MinLength(LEAST)
  least!: string;

  @Length(LEAST, MOST)
  both!: string;

  @IsPlainText(MOST)
  plain!: string;
}

/** The properties that a text breaks the rules of. */
function refused(text: string): string[] {
  const texts = Object.assign(new Texts(), { most: text, least: text, both: text, plain: text });
  return validateSync(texts).map(({ property }) => property);
}

/** What is refused of a text of so many code points. */
function expected(length: number): string[] {
  return [
    ...(length > MOST ? ['most'] : []),
    ...(length < LEAST ? ['least'] : []),
    ...(length > MOST || length < LEAST ? ['both'] : []),
    ...(length > MOST || length === 0 ? ['plain'] : []),
  ];
}

/** Single code points of which emoji are made, and letters: of one unit and of two, in every mixture. */
const codePoint = fc.constantFrom(
  ...['👍', '👩', '\u200d', '💻', '❤', '\ufe0f', '\ufe0e', '🏽', '🇩', '🇪', '🏴', '\u{e0067}', '\u{e007f}'],
  ...['a', 'ß', '\u0301', '漢', '𠮷', ' ', '1', '\u20e3'],
);
/** So many code points, something to see first. */
const textOf = (length: number) =>
  fc
    .array(codePoint, { minLength: Math.max(0, length - 1), maxLength: Math.max(0, length - 1) })
    .map((rest) => (length === 0 ? '' : ['👍', ...rest].join('')));

describe('the length of a text', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['👍', 1],
    ['❤️', 2],
    ['e\u0301', 2],
    ['🇩🇪', 2],
    ['👨‍👩‍👧‍👦', 7],
    ['a\u0000\n', 3],
  ])('of %j is %i', (text, length) => {
    expect(lengthOf(text)).toBe(length);
    expect(isLongerThan(text, length)).toBe(false);
    if (length > 0) expect(isLongerThan(text, length - 1)).toBe(true);
  });

  it.each([LEAST, MOST])(
    'is judged alike by every rule, for emoji of %i code points and one more or less',
    (limit) => {
      for (const length of [limit - 1, limit, limit + 1]) {
        fc.assert(
          fc.property(textOf(length), (text) => {
            expect(lengthOf(text)).toBe(length);
            expect(refused(text)).toEqual(expected(length));
          }),
        );
      }
    },
  );

  it('is what JSON Schema means, and what zod counts', () => {
    const schema = new Ajv2020().compile({ type: 'string', minLength: LEAST, maxLength: MOST });
    const inZod = z.string().min(LEAST).max(MOST);
    const text = fc.integer({ min: 0, max: MOST * 3 }).chain(textOf);
    fc.assert(
      fc.property(text, (given) => {
        const isTaken = !refused(given).includes('both');
        expect(schema(given)).toBe(isTaken);
        expect(inZod.safeParse(given).success).toBe(isTaken);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a text of another length', () => {
  class Messages {
    @IsString()
    @MaxLength(4_000)
    comment!: string;

    @MinLength(1)
    decision!: string;

    @Length(16, 256)
    secret!: string;

    @MaxLength(100, { each: true })
    confirm!: string[];
  }

  it('is refused in words', () => {
    const given = { comment: '👍'.repeat(4_001), decision: '', secret: 'x', confirm: ['x', 'x'.repeat(101)] };
    const faults = validateSync(Object.assign(new Messages(), given));
    expect(faults.map(({ constraints }) => constraints)).toEqual([
      { maxLength: 'comment must be at most 4,000 characters long' },
      { minLength: 'decision must be at least 1 character long' },
      { isLength: 'secret must be text of 16 to 256 characters' },
      { maxLength: 'each value in confirm must be at most 100 characters long' },
    ]);
  });

  it.each([null, undefined, 5, {}, ['x']])('is refused, as is %j, which is none', (value) => {
    const given = { comment: 'x', decision: value, secret: value, confirm: [] };
    expect(validateSync(Object.assign(new Messages(), given)).map(({ property }) => property)).toEqual([
      'decision',
      'secret',
    ]);
  });
});

describe('the words of a person', () => {
  const faultOf = (plain: unknown) => {
    const texts = Object.assign(new Texts(), { most: 'abc', least: 'abc', both: 'abc', plain });
    return validateSync(texts)[0]?.constraints?.['isPlainText'];
  };

  it.each([
    [5, 'plain must be text'],
    ['', 'plain must not be empty'],
    [' \n ', 'plain must not be empty'],
    ['\u200b', 'plain must contain something that can be seen'],
    ['\u202e \u2800', 'plain must contain something that can be seen'],
    ['👍'.repeat(MOST + 1), `plain must be at most ${MOST} characters long`],
    ['a\u001b', 'plain must not contain control characters'],
    ['a\ud800', 'plain must be text in Unicode'],
  ])('are not %j', (value, message) => expect(faultOf(value)).toBe(message));

  it.each(['👨‍👩‍👧‍👦', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '🇩🇪', 'e\u0301', 'a\n\tb', '👍'.repeat(MOST)])('may be %j', (value) =>
    expect(faultOf(value)).toBeUndefined(),
  );
});
