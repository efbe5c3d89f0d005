import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, canonicalJsonOfParsed } from './canonical-json.js';

describe('canonicalJsonOfParsed', () => {
  it('is the canonical form of whatever was parsed, canonical before or not', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'grapheme' }), (value) => {
        const canonical = canonicalJson(value);
        expect(canonicalJsonOfParsed(value)).toBe(canonical);
        expect(canonicalJsonOfParsed(JSON.parse(canonical))).toBe(canonical);
      }),
    );
    // An engine moves names that are whole numbers to the front, in their order as numbers.
    const numbers = '{"10":1,"9":2,"a":3}';
    expect(canonicalJsonOfParsed(JSON.parse(numbers))).toBe(numbers);
    expect(canonicalJsonOfParsed(JSON.parse('{"b":1,"a":{"d":1,"c":2}}'))).toBe('{"a":{"c":2,"d":1},"b":1}');
  });

  it('refuses a lone surrogate, as the canonical form does', () => {
    for (const text of ['"\\ud800"', '{"\\ud800":1}'])
      expect(() => canonicalJsonOfParsed(JSON.parse(text))).toThrow('surrogate');
  });
});
