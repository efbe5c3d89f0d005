import { describe, expect, it } from 'vitest';
import { lookAlike } from './look-alikes.js';

describe('lookAlike', () => {
  it.each([
    ['the Cyrillic а in аcme.example', 'jane@\u0430cme.example', 'mixes letters of several alphabets'],
    ['the same in Punycode', 'jane@xn--cme-5cd.example', 'mixes letters of several alphabets'],
    ['a subdomain', 'jane@mail.p\u0430ypal.example', 'mixes letters of several alphabets'],
    [
      'Latin and Cyrillic around a hyphen',
      'shop-\u043c\u0438\u0440.example',
      'mixes letters of several alphabets',
    ],
    ['what stands before the @', '\u0430da@acme.example', 'mixes letters of several alphabets'],
    [
      'a whole label of Cyrillic letters',
      'jane@\u0441\u043e\u0441\u043e.example',
      'is written in letters that look like “coco”',
    ],
    [
      'a whole label of Greek letters',
      '\u03bf\u03c5\u03c1.example',
      'is written in letters that look like “oup”',
    ],
  ])('tells of %s', (_case, address, reason) => {
    expect(lookAlike(address)).toBe(reason);
  });

  it.each([
    ['ASCII', 'jane@acme.example'],
    ['an umlaut', 'müller@bücher.example'],
    ['letters of other languages in Latin', 'søren@smørrebrød.łódź.ığdır.example'],
    ['a Russian name', 'jane@москва.example'],
    ['a Greek name', 'jane@ελλάδα.example'],
    ['Arabic', 'jane@مثال.example'],
    ['Japanese with Latin', 'jane@ドコモdocomo漢字.example'],
    ['Korean', 'jane@한국.example'],
    ['Hindi', 'jane@उदाहरण.example'],
  ])('finds nothing in %s', (_case, address) => {
    expect(lookAlike(address)).toBeUndefined();
  });
});
