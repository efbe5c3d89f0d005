import { domainToASCII } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalDomain } from '../../src/features/standing-orders/match.js';

const labels = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'abcxyz-01_XYÄ'), maxLength: 6 }),
  fc.constantFrom('xn--bcher-kva', 'xn--', '0x1f', '127', 'bücher', 'com', 'a'),
);

describe('canonicalDomain', () => {
  it('is what domainToASCII says, without the final dot, for every name', () => {
    const names = fc.array(labels, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.'));
    fc.assert(
      fc.property(names, (name) => {
        expect(canonicalDomain(name)).toBe(domainToASCII(name).replace(/\.$/, '') || undefined);
      }),
      { numRuns: 20_000 },
    );
  });

  it.each(['acme.example', 'a.b-c.d2.museum', 'localhost'])('leaves %s as it is', (name) => {
    expect(canonicalDomain(name)).toBe(name);
    expect(domainToASCII(name)).toBe(name);
  });
});
